// Latency histograms of samples and reports: H2 buckets with grouping power 6. Exact up to 127 ns,
// then 64 buckets per power of two, so a bucket is at most 1.6 % wide and the error of its midpoint
// at most 0.8 %.

/** Non-empty buckets in ascending order: [index, count]. */
export type Buckets = readonly (readonly number[])[];

const GROUPING_POWER = 6;
const PER_POWER = 2 ** GROUPING_POWER;
const LINEAR_END = 2 * PER_POWER;

export function bucketAt(ns: number): number {
  const value = Math.max(0, Math.floor(ns));
  if (value < LINEAR_END) return value;
  const shift = Math.floor(Math.log2(value)) - GROUPING_POWER;
  return shift * PER_POWER + Math.floor(value / 2 ** shift);
}

/** First and last value of a bucket, in ns. */
export function bucketRange(index: number): { low: number; high: number } {
  if (index < LINEAR_END) return { low: index, high: index };
  const shift = Math.floor(index / PER_POWER) - 1;
  const low = (index - shift * PER_POWER) * 2 ** shift;
  return { low, high: low + 2 ** shift - 1 };
}

function bucketMidpoint(index: number): number {
  const { low, high } = bucketRange(index);
  return (low + high) / 2;
}

export function totalCount(buckets: Buckets): number {
  return buckets.reduce((sum, pair) => sum + (pair[1] ?? 0), 0);
}

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

/**
 * Nearest-rank percentiles in ns, computed as in the runner. `percents` must be ascending. Null if
 * the histogram is empty.
 */
export function percentiles(buckets: Buckets, percents: readonly number[]): (number | null)[] {
  const total = totalCount(buckets);
  if (total === 0) return percents.map(() => null);
  let at = 0;
  let seen = buckets[0]?.[1] ?? 0;
  return percents.map((percent) => {
    // The percentage is converted to an integer first: in floating point, 99.9 % of 1,000 exceeds
    // 999.
    const exact = (Math.round(percent * 1e4) * total) / 1e6;
    const rank = Math.min(total, Math.max(1, Math.ceil(exact)));
    while (seen < rank) {
      at += 1;
      seen += buckets[at]?.[1] ?? 0;
    }
    return bucketMidpoint(buckets[at]?.[0] ?? 0);
  });
}

/** The midpoint of the last bucket in ns; null if empty. */
export function maxLatency(buckets: Buckets): number | null {
  const last = buckets.at(-1);
  return last ? bucketMidpoint(last[0] ?? 0) : null;
}

export interface Bar {
  low_ns: number;
  high_ns: number;
  /** From 0 to 1. */
  share: number;
}

/** Bars of this width stay readable over seven decades. */
const BARS_PER_DOUBLING = 4;

/** Bars of equal width on a logarithmic axis, including empty ones. */
export function bars(buckets: Buckets): Bar[] {
  const total = totalCount(buckets);
  const shares = new Map<number, number>();
  for (const [index = 0, count = 0] of buckets) {
    const slot = Math.floor(Math.log2(Math.max(1, bucketMidpoint(index))) * BARS_PER_DOUBLING);
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

/** A point of a percentile curve; `nines` is -log10(1 - p): 1 for p90, 2 for p99, 3 for p99.9. */
export interface CurvePoint {
  nines: number;
  ns: number;
}

/** One point per bucket, up to 1 - p = 1/count. */
export function curve(buckets: Buckets): CurvePoint[] {
  const total = totalCount(buckets);
  let seen = 0;
  return buckets.map(([index = 0, count = 0]) => {
    seen += count;
    const above = Math.max(total - seen, 1) / Math.max(total, 2);
    return { nines: -Math.log10(above), ns: bucketMidpoint(index) };
  });
}
