// A window's chart columns. Names and units match `GET /runs/{n}/series`, so charts can use
// live samples and stored series in the same way.
import { maxLatency, mergeBuckets, percentiles } from './histogram';
import type { Window } from './window';

/** A window's values by column; null where nothing was measured. */
export function rowOf(window: Window) {
  const { length_ms, read, write, trim, device, memory, cpu, pressure, residency } = window;
  const perSecond = (n: number | undefined) =>
    n === undefined || length_ms <= 0 ? null : (n * 1000) / length_ms;
  const lat = mergeBuckets(mergeBuckets(read.lat_ns, write.lat_ns), trim.lat_ns);
  const [p50 = null, p99 = null, p999 = null] = percentiles(lat, [50, 99, 99.9]);
  return {
    read_iops: perSecond(read.ios),
    write_iops: perSecond(write.ios),
    trim_iops: perSecond(trim.ios),
    read_bytes_per_second: perSecond(read.bytes),
    write_bytes_per_second: perSecond(write.bytes),
    lat_p50_ns: p50,
    lat_p99_ns: p99,
    lat_p999_ns: p999,
    lat_max_ns: maxLatency(lat),
    device_read_iops: perSecond(device?.read_ios),
    device_write_iops: perSecond(device?.write_ios),
    device_discard_iops: perSecond(device?.discard_ios),
    device_read_bytes_per_second: perSecond(device?.read_bytes),
    device_write_bytes_per_second: perSecond(device?.write_bytes),
    in_flight: window.in_flight,
    cached: memory?.cached ?? null,
    buffers: memory?.buffers ?? null,
    dirty: memory?.dirty ?? null,
    writeback: memory?.writeback ?? null,
    target_cached: residency?.cached ?? null,
    target_dirty: residency?.dirty ?? null,
    process_user: cpu?.process_user ?? null,
    process_system: cpu?.process_system ?? null,
    host_busy: cpu ? cpu.host_user + cpu.host_system + cpu.host_steal : null,
    io_some: pressure?.io_some ?? null,
  } satisfies Record<string, number | null>;
}

export type Row = ReturnType<typeof rowOf>;
/**
 * Sums over all directions. Only groups of runs have these columns, because medians cannot be
 * added.
 */
type GroupColumn = 'iops' | 'bytes_per_second';
export type Column = keyof Row | GroupColumn;
