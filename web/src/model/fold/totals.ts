// Totals of the measurement so far, for a live run's tiles. The final report contains the same
// totals.
import type { IoCounts } from '../../api';
import { type Buckets, mergeBuckets } from '../series/histogram';
import { addIoCounts, type Window } from '../series/window';

const EMPTY: IoCounts = { ios: 0, bytes: 0, lat_ns: [] };

export class Totals {
  read = EMPTY;
  write = EMPTY;
  trim = EMPTY;
  length_ms = 0;

  add(window: Window) {
    this.read = addIoCounts(this.read, window.read);
    this.write = addIoCounts(this.write, window.write);
    this.trim = addIoCounts(this.trim, window.trim);
    this.length_ms += window.length_ms;
  }
}

/** Latencies of all directions combined. */
export const totalLatencies = ({ read, write, trim }: Totals): Buckets =>
  [read, write, trim].reduce<Buckets>((sum, { lat_ns }) => mergeBuckets(sum, lat_ns), []);
