import { expect, it } from 'vitest';
import type { LoadPoint, PointClass } from '../../api';
import {
  achievedLine,
  achievedPoints,
  byRate,
  classText,
  curveCsv,
  earlyPoints,
  latencyLine,
  latencyPoints,
  latencyText,
  reasonText,
  repeatedRates,
  repeatText,
} from './load-curve';

const point = (offered: number, kind: PointClass, p99: number | null): LoadPoint => ({
  step: 1,
  offered,
  achieved: kind === 'missing' ? null : offered * 0.9,
  class: kind,
  backlog: [],
  lat_p99_ns: p99,
  is_lower_bound: kind === 'overloaded',
});
const results = {
  points: [
    point(400, 'sustained', 3e6),
    point(100, 'sustained', 1e6),
    point(800, 'overloaded', 9e6),
    point(200, 'sustained', null),
    point(300, 'missing', null),
  ],
};
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

it('draws the latencies of sustained rates by achieved IOPS', () =>
  expect(latencyLine(results, 'lat_p99_ns')).toEqual([
    { x: 90, y: 1e6 },
    { x: 360, y: 3e6 },
  ]));

it('draws the achieved IOPS by class', () => {
  expect(achievedPoints(results, 'overloaded')).toEqual([{ x: 800, y: 720 }]);
  expect(achievedPoints(results, 'sustained', 'missing').map(({ x }) => x)).toEqual([
    100, 200, 400,
  ]);
});

it('marks lower bounds', () => {
  const texts = results.points.map((other) => plain(latencyText(other, 'lat_p99_ns')));
  expect(texts).toEqual(['3 ms', '1 ms', '≥ 9 ms', '–', '–']);
});

it('exports all points', () =>
  expect(curveCsv(results).split('\n')[3]).toBe('800,720,,,,9000000,,true,overloaded,'));

it('shows why a run ended early', () => {
  const early: LoadPoint = {
    ...point(1500, 'overloaded', 9e6),
    overload: {
      after_ms: 8000,
      period_ms: 5000,
      limit: 1500,
      backlog_at_start: 1600,
      backlog_at_end: 4100,
      due: 7500,
      completed: 5000,
    },
  };
  expect(plain(classText(early))).toBe('Overloaded, ended after 8 s');
  expect(plain(reasonText(early) ?? '')).toBe(
    'In the last 5 s, 7,500 I/Os were due and 5,000 completed: the backlog grew from 1,600 to 4,100.',
  );
  const mixed = { points: [...results.points, early] };
  expect(earlyPoints(mixed)).toEqual([{ x: 1500, y: 1350 }]);
  expect(curveCsv(mixed).split('\n').at(-1)).toMatch(/,overloaded,8000$/);
  expect(classText(point(400, 'sustained', 3e6))).toBe('Sustained');
  expect(reasonText(point(400, 'sustained', 3e6))).toBeUndefined();
});

it('shows why a full-length run is not sustained', () => {
  const full = { ...point(800, 'overloaded', 9e6), backlog: [3, 900, 1800, 2700, 3600] };
  expect(reasonText(full)).toBe('The backlog grew from 3 to 3,600 I/Os.');
  expect(reasonText(point(20, 'uncertain', null))).toMatch(/not significantly/);
  expect(reasonText(point(20, 'inconsistent', null))).toMatch(/do not add up/);
  expect(reasonText(point(20, 'missing', null))).toBeUndefined();
  const disturbance = 'All CPUs were busy.';
  expect(reasonText({ ...point(20, 'disturbed', null), disturbance })).toBe(disturbance);
  expect(reasonText(point(20, 'disturbed', null))).toMatch(/not steadily/);
  expect(reasonText({ ...point(20, 'sustained', null), disturbance })).toBeUndefined();
  expect(reasonText({ ...full, disturbance })).toMatch(/^The backlog grew from 3/);
});

it('numbers the runs of repeated rates', () => {
  const points = [point(200, 'overloaded', 4e6), point(100, 'sustained', 1e6)];
  const repeated = { points: [...points, point(200, 'overloaded', 6e6)] };
  expect(
    byRate(repeated).map((other) => [other.offered, other.lat_p99_ns, repeatText(other)]),
  ).toEqual([
    [100, 1e6, ''],
    [200, 4e6, 'run 1 of 2'],
    [200, 6e6, 'run 2 of 2'],
  ]);
  expect(repeatedRates(repeated)).toBe('Repeated: 200 IOPS (2 runs).');
  expect(repeatedRates({ points })).toBe('');
});

it('draws lines through the medians of repeated rates', () => {
  const runs = [1e6, 5e6, 2e6].map((p99, index) => ({
    ...point(100, 'sustained', p99),
    achieved: 90 + index,
  }));
  const repeated = { points: [point(200, 'sustained', 8e6), ...runs] };
  expect(latencyPoints(repeated, 'lat_p99_ns')).toHaveLength(4);
  expect(latencyLine(repeated, 'lat_p99_ns')).toEqual([
    { x: 91, y: 2e6 },
    { x: 180, y: 8e6 },
  ]);
  expect(achievedLine(repeated, 'sustained')).toEqual([
    { x: 100, y: 91 },
    { x: 200, y: 180 },
  ]);
});
