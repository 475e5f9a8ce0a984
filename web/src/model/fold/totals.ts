// Sums over the measurement so far, for the depth gauge and the tiles of a live run. The final report has the same sums.
import type { DeviceCounts, IoCounts, Residency, StorageIo } from '../../api';
import { addCounts, addIoCounts, addStorage, type Window } from '../series/window';

const EMPTY: IoCounts = { ios: 0, bytes: 0, lat_ns: [] };

export class Totals {
  read = EMPTY;
  write = EMPTY;
  trim = EMPTY;
  device: DeviceCounts | null = null;
  physical_devices: DeviceCounts | null = null;
  storage: StorageIo | null = null;
  /** The most recent value. */
  residency: Residency | null = null;
  length_ms = 0;

  add(window: Window) {
    this.read = addIoCounts(this.read, window.read);
    this.write = addIoCounts(this.write, window.write);
    this.trim = addIoCounts(this.trim, window.trim);
    this.device = addCounts(this.device, window.device);
    this.physical_devices = addCounts(this.physical_devices, window.physical_devices);
    this.storage = addStorage(this.storage, window.storage);
    this.residency = window.residency ?? this.residency;
    this.length_ms += window.length_ms;
  }
}
