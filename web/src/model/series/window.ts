// What was counted in one stretch of time at every layer: one sample, or several neighbours as one. Sums stay sums and
// histograms stay histograms, so that joining windows loses time resolution and nothing else (a percentile of joined
// windows is exact, not an average of percentiles).
import type {
  CpuUse,
  DeviceCounts,
  Event,
  IoCounts,
  Memory,
  Phase,
  Pressure,
  Residency,
  StorageIo,
} from '../../api';
import { mergeBuckets } from './histogram';

/** A `sample` event. */
export type SampleEvent = Extract<Event, { type: 'sample' }>;

/** One stretch of time. */
export interface Window {
  /** Its end, in ms since the run began on the host. */
  end_ms: number;
  /** Its length in ms. */
  length_ms: number;
  phase: Phase;
  read: IoCounts;
  write: IoCounts;
  trim: IoCounts;
  in_flight: number;
  device: DeviceCounts | null;
  physical_devices: DeviceCounts | null;
  memory: Memory | null;
  cpu: CpuUse | null;
  pressure: Pressure | null;
  /** What the runner alone moved from and to storage. */
  storage: StorageIo | null;
  /** What of the targets lies in the page cache; read about once a second. */
  residency: Residency | null;
}

/** The window of one sample. */
export function windowOf(event: SampleEvent): Window {
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
    physical_devices: event.physical_devices ?? null,
    memory: event.memory ?? null,
    cpu: event.cpu ?? null,
    pressure: event.pressure ?? null,
    storage: event.storage ?? null,
    residency: event.residency ?? null,
  };
}

/** Two neighbours as one; `a` is the earlier. States (memory, residency, in flight) are those at the end. */
export function joinWindows(a: Window, b: Window): Window {
  const length_ms = a.length_ms + b.length_ms;
  const weight = length_ms > 0 ? a.length_ms / length_ms : 0;
  return {
    end_ms: b.end_ms,
    length_ms,
    phase: b.phase,
    read: joinFlows(a.read, b.read),
    write: joinFlows(a.write, b.write),
    trim: joinFlows(a.trim, b.trim),
    in_flight: b.in_flight,
    device: addCounts(a.device, b.device),
    physical_devices: addCounts(a.physical_devices, b.physical_devices),
    memory: b.memory ?? a.memory,
    cpu: meanOf(a.cpu, b.cpu, weight),
    pressure: meanOf(a.pressure, b.pressure, weight),
    storage: addStorage(a.storage, b.storage),
    residency: b.residency ?? a.residency,
  };
}

/** Two flows as one. */
export function joinFlows(a: IoCounts, b: IoCounts): IoCounts {
  const lat_ns = mergeBuckets(a.lat_ns, b.lat_ns) as IoCounts['lat_ns'];
  return { ios: a.ios + b.ios, bytes: a.bytes + b.bytes, lat_ns };
}

/** Kernel counts of two windows as one; `in_flight` is a state, the later one counts. */
export function addCounts(a: DeviceCounts | null, b: DeviceCounts | null): DeviceCounts | null {
  if (!a || !b) return a ?? b;
  const sum = { ...b };
  for (const key of Object.keys(b) as (keyof DeviceCounts)[])
    if (key !== 'in_flight') sum[key] = a[key] + b[key];
  return sum;
}

/** What a process moved in two windows. */
export function addStorage(a: StorageIo | null, b: StorageIo | null): StorageIo | null {
  if (!a || !b) return a ?? b;
  return {
    read_bytes: a.read_bytes + b.read_bytes,
    write_bytes: a.write_bytes + b.write_bytes,
    cancelled_write_bytes: a.cancelled_write_bytes + b.cancelled_write_bytes,
  };
}

function meanOf<T extends CpuUse | Pressure>(a: T | null, b: T | null, weight: number): T | null {
  if (!a || !b) return b ?? a;
  const mixed = { ...b };
  for (const key of Object.keys(b) as (keyof T)[])
    mixed[key] = (Number(a[key]) * weight + Number(b[key]) * (1 - weight)) as T[keyof T];
  return mixed;
}
