import { expect, it } from 'vitest';
import type { Comparison, GroupSeries, GroupTimeSeries } from '../../api';
import { rate, shortCount, text } from '../format/numbers';
import { groupSeriesText, groupSeriesView, seriesParameters } from './group-time-series';

const plain = (s: string) => s.replaceAll('\u00a0', ' ');

const series = (
  runs: number[],
  [median, low, high]: (number | null)[][],
): GroupSeries['groups'][number] => ({
  runs,
  n: [],
  columns: [
    { name: 'iops', unit: '1/s', whole: 7, median: median ?? [], low: low ?? [], high: high ?? [] },
  ] satisfies GroupTimeSeries['columns'],
});

const SERIES: GroupSeries = {
  bucket_ms: 500,
  t_ms: [500, 1000, 1500],
  groups: [
    series(
      [12, 13],
      [
        [1000, 1200, null],
        [900, 1100, null],
        [1100, 1300, null],
      ],
    ),
    series(
      [14],
      [
        [500, 500, 700],
        [null, null, null],
        [null, null, null],
      ],
    ),
    series([], [[], [], []]),
  ],
};

it('draws the median of the runs, and their range as a band', () => {
  const view = groupSeriesView(SERIES, 0);
  expect(view).toMatchObject({ length: 3, banded: true });
  expect(view.seconds(1)).toBe(1);
  expect((['min', 'mean', 'max'] as const).map((name) => view.value(1, ['iops'], name))).toEqual([
    1100, 1200, 1300,
  ]);
  expect(view.value(2, ['iops'])).toBeNull();
  expect(view.value(0, ['lat_p99_ns'])).toBeNull();
});

it('draws no band for a single run', () => {
  const view = groupSeriesView(SERIES, 1);
  expect(view.banded).toBe(false);
  expect(view.edges).toBeUndefined();
});

it('changes its generation with the runs', () => {
  const other = { ...SERIES, groups: [series([12, 13, 15], [[], [], []])] };
  expect(groupSeriesView(SERIES, 0).generation).not.toBe(groupSeriesView(other, 0).generation);
});

it.each([
  [0, 'before: median 1 k to 1.20 k, runs 900 to 1.30 k'],
  [1, 'before: 500 to 700'],
  [2, 'before: no values'],
  [9, 'before: no values'],
])('describes group %i as %j', (group, expected) => {
  const view = groupSeriesView(SERIES, group);
  const format = (value: number | null) => text(shortCount(value));
  expect(plain(groupSeriesText({ label: 'before', view, column: 'iops' }, format))).toBe(expected);
  const other = groupSeriesText({ label: 'b', view, column: 'bytes_per_second' }, (n) =>
    text(rate(n)),
  );
  expect(other).toBe('b: no values');
});

const COMPARISON = {
  groups: [{ label: 'before' }, { label: 'after' }],
  runs: [0, 0, 1].map((group, index) => ({ group, run: { number: index + 12 } })),
} as unknown as Comparison;

it('requests the runs of the groups', () => {
  expect(seriesParameters(COMPARISON)).toEqual({ a: '12,13', b: '14' });
});
