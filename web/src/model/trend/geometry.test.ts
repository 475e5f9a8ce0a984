import { expect, it } from 'vitest';
import type { TrendChange, TrendPoint } from '../../api';
import { labelIndices, levels, linePath, ticks, valueRange } from './geometry';

const point = (median: number | null, interval?: [number, number]): TrendPoint => ({
  started_at_ms: 0,
  runs: median === null ? [] : [1],
  excluded: [],
  statistics: {
    n: 1,
    median,
    interval: interval && { low: interval[0], high: interval[1] },
    outliers: [],
  },
  at_least: false,
  host_changes: [],
});
const range = (points: TrendPoint[], baseline?: number) =>
  valueRange(
    {
      threshold_percent: 2,
      baseline_statistics: baseline === undefined ? null : { n: 1, median: baseline, outliers: [] },
    },
    points,
  );

it('covers intervals and the baseline', () => {
  const { low, high } = range([point(100, [80, 130]), point(90)], 150);
  expect(low).toBeLessThan(80);
  expect(high).toBeGreaterThan(150);
});

it('does not enlarge noise below the threshold', () => {
  const { low, high } = range([point(1000), point(1001)]);
  expect(high - low).toBeGreaterThan(80);
});

it.each([
  [[], { low: 0, high: 1 }],
  [[point(null)], { low: 0, high: 1 }],
])('is finite without values', (points, expected) => expect(range(points)).toEqual(expected));

it('stays at or above zero for positive values, and is not empty for zeros', () => {
  expect(range([point(1, [0, 3])]).low).toBe(0);
  const { low, high } = range([point(0)]);
  expect(high).toBeGreaterThan(low);
});

it('shows excluded runs if there are no others', () => {
  const excluded = [{ run: 1, kind: 'disturbed' as const, reason: 'foreign I/O', value: 50 }];
  const { low, high } = range([{ ...point(null), excluded }]);
  expect(low).toBeLessThan(50);
  expect(high).toBeGreaterThan(50);
});

it('has round ticks', () => {
  expect(ticks({ low: 37.2, high: 43.9 })).toEqual([38, 40, 42]);
  expect(ticks({ low: 0, high: 1 })).toHaveLength(6);
  expect(ticks({ low: 5, high: 5 })).toEqual([]);
});

const change = (at: number, before: number, after: number): TrendChange => ({
  point: at,
  percent: 1,
  is_better: true,
  p_value: 0,
  mean_before: before,
  mean_after: after,
  runs_before: [],
  runs_after: [],
});

it('draws a level between two changes, clipped to the points shown', () => {
  const changes = [change(10, 1, 2), change(20, 2, 3)];
  expect(levels([], 0, 30)).toEqual([]);
  expect(levels(changes, 0, 30)).toEqual([
    { from: 0, to: 10, mean: 1 },
    { from: 10, to: 20, mean: 2 },
    { from: 20, to: 30, mean: 3 },
  ]);
  expect(levels(changes, 15, 15)).toEqual([
    { from: 0, to: 5, mean: 2 },
    { from: 5, to: 15, mean: 3 },
  ]);
});

it('labels the last group and as many other groups as fit', () => {
  expect(labelIndices(0, 5)).toEqual([]);
  expect(labelIndices(3, 5)).toEqual([0, 1, 2]);
  expect(labelIndices(10, 5)).toEqual([1, 3, 5, 7, 9]);
  expect(labelIndices(10, 0)).toEqual([9]);
});

it('connects known values', () => {
  expect(linePath([[0, 1], null, [2, 3]])).toBe('M0.0 1.0L2.0 3.0');
  expect(linePath([null])).toBe('');
});
