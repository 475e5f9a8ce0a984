import { expect, it } from 'vitest';
import { type Buckets, bucketAt } from '../series/histogram';
import { curveBand } from './curve-band';

/** 99 I/Os with the same latency, and one with a different latency. */
const run = (ns: number, slowest: number): Buckets => [
  [bucketAt(ns), 99],
  [bucketAt(slowest), 1],
];

it('is the range of the runs at each percentile', () => {
  const band = curveBand([run(100, 5000), run(120, 3000)]);
  const [first] = band;
  expect(first).toMatchObject({ nines: 0, low_ns: 100, high_ns: 120 });
  expect(band.at(-1)?.nines).toBeCloseTo(2);
  expect(band.every(({ low_ns, high_ns }) => low_ns <= high_ns)).toBe(true);
});

it('ends at the percentile that all runs support', () => {
  const few: Buckets = [[50, 10]];
  expect(curveBand([run(100, 5000), few]).at(-1)?.nines).toBeCloseTo(1);
});

it('requires two runs with I/Os', () => {
  expect(curveBand([run(100, 5000)])).toEqual([]);
  expect(curveBand([run(100, 5000), []])).toEqual([]);
  expect(curveBand([])).toEqual([]);
});
