import { expect, it } from 'vitest';
import type { Change, Comparison } from '../../api';
import { forestMark, forestScale } from './forest';

const comparison = (...changes: (Partial<Change> | null)[]) =>
  ({
    threshold_percent: 2,
    metrics: changes.map((change) => ({ threshold_percent: 2, changes: [null, change] })),
  }) as unknown as Comparison;

it.each<[(Partial<Change> | null)[], number]>([
  [[null], 5],
  [[{ percent: 30, verdict: null }], 5],
  [[{ percent: -20, verdict: 'worse' }], 22],
  [[{ percent: 1, verdict: 'worse', interval_percent: { low: -10, high: 4 } }], 11],
  [[{ percent: 800, verdict: 'better' }], 60],
])('fits %j', (changes, limit) =>
  expect(forestScale(comparison(...changes), 1).limit).toBeCloseTo(limit),
);

it('shows the largest threshold of a metric', () => {
  const { metrics } = comparison({ percent: 1, verdict: 'equivalent' });
  const wide = metrics.map((metric) => ({ ...metric, threshold_percent: 20 }));
  expect(forestScale({ ...comparison(), metrics: wide }, 1).limit).toBeCloseTo(50);
});

it('positions marks and clips them', () => {
  const scale = { limit: 10, threshold: 2 };
  expect(forestMark(scale, 0, { low: -5, high: 5 })).toEqual({
    point: 0.5,
    low: 0.25,
    high: 0.75,
    beyondLow: null,
    beyondHigh: null,
  });
  expect(forestMark(scale, 5, { low: -30, high: 90 })).toMatchObject({
    low: 0,
    high: 1,
    beyondLow: -30,
    beyondHigh: 90,
  });
});

it.each<[number, { low: number; high: number } | null, number | null, number | null]>([
  [30, { low: 20, high: 90 }, null, 30],
  [30, { low: -30, high: 90 }, -30, 30],
  [-30, null, -30, null],
  [10, null, null, null],
])('names the change %d with %j at the arrow, or else the bound', (percent, interval, low, high) =>
  expect(forestMark({ limit: 10, threshold: 2 }, percent, interval)).toMatchObject({
    beyondLow: low,
    beyondHigh: high,
  }),
);
