// All layers' counts in one time window, which is a sample or multiple merged samples. Counts
// and histograms are added up, so merging windows keeps percentiles exact and reduces only the time
// resolution.
import type {
  CpuUse,
  DeviceCounts,
  Event,
  IoCounts,
  Memory,
  Phase,
  Pressure,
  Residency,
} from '../../api';
import { mergeBuckets } from './histogram';

export type SampleEvent = Extract<Event, { type: 'sample' }>;

export interface Window {
  /** Milliseconds since the start of the run. */
  end_ms: number;
  length_ms: number;
  phase: Phase;
  read: IoCounts;
  write: IoCounts;
  trim: IoCounts;
  in_flight: number;
  device: DeviceCounts | null;
  memory: Memory | null;
  cpu: CpuUse | null;
  pressure: Pressure | null;
  /** Cached pages of the targets. They are read about once a second. */
  residency: Residency | null;
}

export function toWindow(event: SampleEvent): Window {
  const { read, write, trim, phase, in_flight } = event;
  return {
    end_ms: event.t_ms,
    length_ms: event.window_ms,
    phase,
    read,
    write,
    trim,
    in_flight,
    device: event.device ?? null,
    memory: event.memory ?? null,
    cpu: event.cpu ?? null,
    pressure: event.pressure ?? null,
    residency: event.residency ?? null,
  };
}

/**
 * Merges two neighboring windows; `a` is the earlier one. Gauges (memory, residency, in flight) are
 * taken from `b`.
 */
export function mergeWindows(a: Window, b: Window): Window {
  const length_ms = a.length_ms + b.length_ms;
  const weight = length_ms > 0 ? a.length_ms / length_ms : 0;
  return {
    end_ms: b.end_ms,
    length_ms,
    phase: b.phase,
    read: addIoCounts(a.read, b.read),
    write: addIoCounts(a.write, b.write),
    trim: addIoCounts(a.trim, b.trim),
    in_flight: b.in_flight,
    device: addCounts(a.device, b.device),
    memory: b.memory ?? a.memory,
    cpu: weightedMean(a.cpu, b.cpu, weight),
    pressure: weightedMean(a.pressure, b.pressure, weight),
    residency: b.residency ?? a.residency,
  };
}

export function addIoCounts(a: IoCounts, b: IoCounts): IoCounts {
  const lat_ns = mergeBuckets(a.lat_ns, b.lat_ns) as IoCounts['lat_ns'];
  return { ios: a.ios + b.ios, bytes: a.bytes + b.bytes, lat_ns };
}

/** Adds device counters, except `in_flight`, which is a gauge and is taken from `b`. */
function addCounts(a: DeviceCounts | null, b: DeviceCounts | null): DeviceCounts | null {
  if (!a || !b) return a ?? b;
  const sum = { ...b };
  for (const key of Object.keys(b) as (keyof DeviceCounts)[]) {
    if (key !== 'in_flight') sum[key] = a[key] + b[key];
  }
  return sum;
}

function weightedMean<T extends CpuUse | Pressure>(
  a: T | null,
  b: T | null,
  weight: number,
): T | null {
  if (!a || !b) return b ?? a;
  const mean = { ...b };
  for (const key of Object.keys(b) as (keyof T)[])
    mean[key] = (Number(a[key]) * weight + Number(b[key]) * (1 - weight)) as T[keyof T];
  return mean;
}
