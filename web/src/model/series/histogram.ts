// Latency histograms: pairs of bucket number and count, as samples and reports carry them. Buckets are those of the
// H2 histogram with grouping power 6: exact up to 127 ns, then 64 buckets to a power of two, so that a bucket is at
// most 1.6 % wide and its middle at most 0.8 % wrong. Not here: how a distribution is drawn.

/** Buckets that are not empty, in rising order: [bucket number, count]. */
export type Buckets = readonly (readonly number[])[];

const GROUPING_POWER = 6;
const PER_POWER = 2 ** GROUPING_POWER;
const LINEAR_END = 2 * PER_POWER;

/** The bucket that a value in ns falls into. */
export function bucketOf(ns: number): number {
  const value = Math.max(0, Math.floor(ns));
  if (value < LINEAR_END) return value;
  const shift = Math.floor(Math.log2(value)) - GROUPING_POWER;
  return shift * PER_POWER + Math.floor(value / 2 ** shift);
}

/** First and last value in ns of a bucket. */
export function bucketRange(index: number): { low: number; high: number } {
  if (index < LINEAR_END) return { low: index, high: index };
  const shift = Math.floor(index / PER_POWER) - 1;
  const low = (index - shift * PER_POWER) * 2 ** shift;
  return { low, high: low + 2 ** shift - 1 };
}

/** The value in ns that stands for a bucket. */
function bucketMiddle(index: number): number {
  const { low, high } = bucketRange(index);
  return (low + high) / 2;
}

/** How many latencies were counted. */
export function countOf(buckets: Buckets): number {
  return buckets.reduce((sum, pair) => sum + (pair[1] ?? 0), 0);
}

/** Two distributions as one. */
export function mergeBuckets(a: Buckets, b: Buckets): Buckets {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const merged: [number, number][] = [];
  let i = 0;
  let k = 0;
  while (i < a.length || k < b.length) {
    const [left = Infinity, leftCount = 0] = a[i] ?? [];
    const [right = Infinity, rightCount = 0] = b[k] ?? [];
    merged.push([
      Math.min(left, right),
      (left <= right ? leftCount : 0) + (right <= left ? rightCount : 0),
    ]);
    if (left <= right) i += 1;
    if (right <= left) k += 1;
  }
  return merged;
}

/** Percentiles in ns by nearest rank (as the runner's), for percentages in rising order; null where nothing was counted. */
export function percentiles(buckets: Buckets, percents: readonly number[]): (number | null)[] {
  const total = countOf(buckets);
  if (total === 0) return percents.map(() => null);
  let at = 0;
  let seen = buckets[0]?.[1] ?? 0;
  return percents.map((percent) => {
    const rank = Math.min(total, Math.max(1, Math.ceil((percent / 100) * total)));
    while (seen < rank) {
      at += 1;
      seen += buckets[at]?.[1] ?? 0;
    }
    return bucketMiddle(buckets[at]?.[0] ?? 0);
  });
}

/** The longest latency in ns that the buckets can have held; null where nothing was counted. */
export function longest(buckets: Buckets): number | null {
  const last = buckets.at(-1);
  return last ? bucketMiddle(last[0] ?? 0) : null;
}

/** One bar of a drawn histogram. */
export interface Bar {
  /** Where it begins and ends, in ns. */
  low_ns: number;
  high_ns: number;
  /** Share of all latencies, from 0 to 1. */
  share: number;
}

/** Bars to a doubling of the latency: a quarter octave is the finest that is still readable over seven decades. */
const BARS_PER_DOUBLING = 4;

/** The distribution in bars of equal width on a logarithmic axis, gaps included. */
export function bars(buckets: Buckets): Bar[] {
  const total = countOf(buckets);
  const shares = new Map<number, number>();
  for (const [index = 0, count = 0] of buckets) {
    const slot = Math.floor(Math.log2(Math.max(1, bucketMiddle(index))) * BARS_PER_DOUBLING);
    shares.set(slot, (shares.get(slot) ?? 0) + count / total);
  }
  const slots = [...shares.keys()];
  if (slots.length === 0) return [];
  const first = Math.min(...slots);
  return Array.from({ length: Math.max(...slots) - first + 1 }, (_, i) => ({
    low_ns: 2 ** ((first + i) / BARS_PER_DOUBLING),
    high_ns: 2 ** ((first + i + 1) / BARS_PER_DOUBLING),
    share: shares.get(first + i) ?? 0,
  }));
}

/** One point of a percentile curve; `nines` is -log10(1 - p), so that 90 % is 1, 99 % is 2, 99.9 % is 3. */
export interface CurvePoint {
  nines: number;
  ns: number;
}

/** The percentile curve, one point a bucket; it ends at the last latency but one, where 1 - p is 1/count. */
export function curve(buckets: Buckets): CurvePoint[] {
  const total = countOf(buckets);
  let seen = 0;
  return buckets.map(([index = 0, count = 0]) => {
    seen += count;
    const above = Math.max(total - seen, 1) / Math.max(total, 2);
    return { nines: -Math.log10(above), ns: bucketMiddle(index) };
  });
}
