// The columns that are drawn, one row a window: the same names and units whether they come from live samples or from
// `GET /runs/{n}/series`. Charts name columns and never look into samples.
import { longest, mergeBuckets, percentiles } from './histogram';
import type { Window } from './window';

/** In the order of a row. */
const COLUMNS = [
  'read_iops',
  'write_iops',
  'trim_iops',
  'read_bytes_per_second',
  'write_bytes_per_second',
  'lat_p50_ns',
  'lat_p99_ns',
  'lat_p999_ns',
  'lat_max_ns',
  'device_read_iops',
  'device_write_iops',
  'device_read_bytes_per_second',
  'device_write_bytes_per_second',
  'in_flight',
  'cached',
  'buffers',
  'dirty',
  'writeback',
  'target_cached',
  'target_dirty',
  'process_user',
  'process_system',
  'host_busy',
  'io_some',
] as const;

/** Name of a column. */
export type Column = (typeof COLUMNS)[number];

/** The values of one window, by column; null where nothing is known or nothing was counted. */
export type Row = Record<Column, number | null>;

/** The row of a window. */
export function rowOf(window: Window): Row {
  const perSecond = (n: number | undefined) =>
    n === undefined || window.length_ms <= 0 ? null : (n * 1000) / window.length_ms;
  const { read, write, trim, device, memory, cpu, pressure, residency } = window;
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
    lat_max_ns: longest(lat),
    device_read_iops: perSecond(device?.read_ios),
    device_write_iops: perSecond(device?.write_ios),
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
  };
}
