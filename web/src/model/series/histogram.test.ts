import { describe, expect, it } from 'vitest';
import {
  bars,
  bucketAt,
  bucketRange,
  curve,
  mergeBuckets,
  percentiles,
  totalCount,
} from './histogram';

function of(values: number[]): [number, number][] {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(bucketAt(value), (counts.get(bucketAt(value)) ?? 0) + 1);
  return [...counts].sort((a, b) => a[0] - b[0]);
}

describe('buckets', () => {
  // From crate `histogram` 1.6.4, Config::new(6, 40): index_to_lower_bound and
  // index_to_upper_bound.
  it.each([
    [0, 0, 0],
    [127, 127, 127],
    [128, 128, 129],
    [191, 254, 255],
    [192, 256, 259],
    [255, 508, 511],
    [256, 512, 519],
    [1023, 2_080_768, 2_097_151],
    [1855, 508 * 2 ** 20 * 32, 2 ** 34 - 1],
  ])('bucket %i is %i to %i ns', (index, low, high) => {
    expect(bucketRange(index)).toEqual({ low, high });
    expect(bucketAt(low)).toBe(index);
    expect(bucketAt(high)).toBe(index);
  });

  it('have no gap and no overlap up to 18 minutes', () => {
    for (let index = 1; index < 2240; index += 1)
      expect(bucketRange(index).low).toBe(bucketRange(index - 1).high + 1);
  });
});

describe('percentiles', () => {
  it('equal those of the sorted values within 0.8 %', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => Math.floor(900 * 1.0007 ** i)).sort(
      (a, b) => a - b,
    );
    const percents = [1, 50, 90, 99, 99.9, 100];
    percentiles(of(values), percents).forEach((got, i) => {
      const exact =
        values[Math.max(0, Math.ceil(((percents[i] ?? 0) / 100) * values.length) - 1)] ??
        Number.NaN;
      expect(Math.abs((got ?? 0) - exact) / exact).toBeLessThanOrEqual(0.008);
    });
  });

  it('round the rank up only if it is not whole: p99.9 of 1,000 is the 999th', () => {
    expect(
      percentiles(
        [
          [10, 999],
          [20, 1],
        ],
        [99.9, 99.95],
      ),
    ).toEqual([10, 20]);
  });

  it('are null if empty', () => expect(percentiles([], [50, 99])).toEqual([null, null]));
});

describe('merging', () => {
  it('is equivalent to one histogram of all values', () => {
    const a = [5, 5, 900, 70_000];
    const b = [5, 300, 900, 1_000_000];
    expect(mergeBuckets(of(a), of(b))).toEqual(of([...a, ...b]));
    expect(mergeBuckets([], of(b))).toEqual(of(b));
  });
});

describe('drawing', () => {
  it('bars cover all buckets and keep gaps', () => {
    const drawn = bars(of([1000, 1000, 1000, 16_000]));
    expect(drawn.reduce((sum, bar) => sum + bar.share, 0)).toBeCloseTo(1);
    expect(drawn).toHaveLength(17);
    expect(drawn.filter((bar) => bar.share === 0)).toHaveLength(15);
  });

  it('the curve rises and ends at the last latency', () => {
    const points = curve(of(Array.from({ length: 1000 }, (_, i) => 1000 + i * 50)));
    expect(points.every((point, i) => i === 0 || point.nines >= (points[i - 1]?.nines ?? 0))).toBe(
      true,
    );
    expect(points.at(-1)?.nines).toBeCloseTo(3);
    expect(totalCount([])).toBe(0);
  });
});
