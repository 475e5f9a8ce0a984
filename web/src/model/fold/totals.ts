// What the measured window amounts to so far: the sums behind the depth gauge and the big figures of a live run. At the
// end the report says the same.
import type { DeviceCounts, IoCounts, Residency, StorageIo } from '../../api';
import { addCounts, addStorage, joinFlows, type Window } from '../series/window';

const NOTHING: IoCounts = { ios: 0, bytes: 0, lat_ns: [] };

/** Sums over the measured window. */
export class Totals {
  read = NOTHING;
  write = NOTHING;
  trim = NOTHING;
  device: DeviceCounts | null = null;
  physical_devices: DeviceCounts | null = null;
  storage: StorageIo | null = null;
  /** The last that was read. */
  residency: Residency | null = null;
  length_ms = 0;

  /** Adds one window. */
  add(window: Window) {
    this.read = joinFlows(this.read, window.read);
    this.write = joinFlows(this.write, window.write);
    this.trim = joinFlows(this.trim, window.trim);
    this.device = addCounts(this.device, window.device);
    this.physical_devices = addCounts(this.physical_devices, window.physical_devices);
    this.storage = addStorage(this.storage, window.storage);
    this.residency = window.residency ?? this.residency;
    this.length_ms += window.length_ms;
  }
}
