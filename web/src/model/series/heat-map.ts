// Latencies over time as cells: the histogram of each window, in rows of equal height on a
// logarithmic axis.
import { bucketRange } from './histogram';
import type { Window } from './window';

/** Rows of this height stay readable over seven decades. */
const ROWS_PER_DOUBLING = 4;

/** Lowest latency that belongs to a row, in ns. */
export const rowStart = (row: number): number => 2 ** (row / ROWS_PER_DOUBLING);

/** The row to which a latency in ns belongs. */
export const rowAt = (ns: number): number =>
  Math.floor(Math.log2(Math.max(1, ns)) * ROWS_PER_DOUBLING);

/** I/Os in one window, for all directions combined. */
export interface HeatColumn {
  /** Milliseconds since the start of the run. */
  begin_ms: number;
  end_ms: number;
  /** Number of I/Os by row. */
  counts: ReadonlyMap<number, number>;
}

export function heatColumn({ end_ms, length_ms, read, write, trim }: Window): HeatColumn {
  const counts = new Map<number, number>();
  for (const { lat_ns } of [read, write, trim]) {
    for (const [bucket = 0, count = 0] of lat_ns) {
      const { low, high } = bucketRange(bucket);
      const row = rowAt((low + high) / 2);
      counts.set(row, (counts.get(row) ?? 0) + count);
    }
  }
  return { begin_ms: end_ms - length_ms, end_ms, counts };
}

/** First and last used row, and the highest cell rate in I/Os per ms; null if there are no I/Os. */
export function findExtent(columns: readonly HeatColumn[]) {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  let highest = 0;
  for (const column of columns) {
    for (const [row, count] of column.counts) {
      first = Math.min(first, row);
      last = Math.max(last, row);
      highest = Math.max(highest, rateOf(column, count));
    }
  }
  return highest > 0 ? { first, last, highest } : null;
}

/** I/Os per millisecond, so that windows of different lengths are comparable. */
export const rateOf = ({ begin_ms, end_ms }: HeatColumn, count: number): number =>
  end_ms > begin_ms ? count / (end_ms - begin_ms) : 0;

/** The lowest intensity of a non-empty cell, so that even a single slow I/O is visible. */
const FAINTEST = 0.14;

/**
 * Intensity from 0 to 1. The scale is logarithmic, because cell rates span several decades.
 */
export function intensity(rate: number, highest: number, lowest: number): number {
  if (rate <= 0) return 0;
  if (highest <= lowest) return 1;
  const part = Math.log(rate / lowest) / Math.log(highest / lowest);
  return FAINTEST + (1 - FAINTEST) * Math.min(1, Math.max(0, part));
}
