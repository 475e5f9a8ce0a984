// What the measured window amounts to so far: the sums behind the depth gauge and the big figures of a live run. At the
// end the report says the same.
import type { DeviceCounts, Flow, Residency, StorageIo } from '../api';
import { addCounts, addStorage, joinFlows, type Window } from './window';

const NOTHING: Flow = { ios: 0, bytes: 0, lat_ns: [] };

/** Sums over the measured window. */
export class Totals {
  read = NOTHING;
  write = NOTHING;
  trim = NOTHING;
  device: DeviceCounts | null = null;
  leaves: DeviceCounts | null = null;
  storage: StorageIo | null = null;
  /** The first and the last that were read. */
  residency: { start: Residency; end: Residency } | null = null;
  length_ms = 0;
  /** Milliseconds of processor time, user and system. */
  cpu_ms: number | null = null;

  /** Adds one window. */
  add(window: Window) {
    this.read = joinFlows(this.read, window.read);
    this.write = joinFlows(this.write, window.write);
    this.trim = joinFlows(this.trim, window.trim);
    this.device = addCounts(this.device, window.device);
    this.leaves = addCounts(this.leaves, window.leaves);
    this.storage = addStorage(this.storage, window.storage);
    if (window.residency) this.residency = { start: this.residency?.start ?? window.residency, end: window.residency };
    this.length_ms += window.length_ms;
    if (window.cpu)
      this.cpu_ms = (this.cpu_ms ?? 0) + ((window.cpu.process_user + window.cpu.process_system) / 100) * window.length_ms;
  }
}
