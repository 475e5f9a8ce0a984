import { expect, it } from 'vitest';
import {
  changeOf,
  exclusionText,
  factText,
  isBaseline,
  isPinnedGroup,
  statisticsText,
} from './text';

it.each([
  ['kernel', '6.1', '6.8', 'kernel 6.1 → 6.8'],
  ['device.scheduler', 'none', null, 'scheduler none → none'],
  ['memory_bytes', '1073741824', '2147483648', 'memory 1 GiB → 2 GiB'],
  ['vulnerabilities.spectre_v2', null, 'Mitigation: IBRS', 'spectre v2 none → Mitigation: IBRS'],
  ['verdict', 'device', 'page_cache', 'served by Device → Page cache'],
])('describes the change of %s', (name, before, after, expected) =>
  expect(factText({ name, before, after }).replaceAll('\u00a0', ' ')).toBe(expected),
);

it('shows the interval and lower bounds', () => {
  const point = {
    started_at_ms: 0,
    runs: [1],
    excluded: [],
    at_least: true,
    host_changes: [],
    statistics: { n: 6, median: 100, interval: { low: 90, high: 110 }, outliers: [] },
  };
  expect(statisticsText(point, '1/s')).toBe('≥ 100 (90 to 110)');
  const empty = { ...point, statistics: { n: 0, outliers: [] } };
  expect(statisticsText(empty, '1/s')).toBe('–');
});

it('counts excluded runs', () =>
  expect(
    exclusionText([
      { kind: 'incomplete', reason: 'failed', runs: 3 },
      { kind: 'disturbed', reason: 'foreign I/O', runs: 1 },
    ]),
  ).toBe('3 failed, 1 foreign I/O'));

it('omits the size of a change from zero', () => {
  expect(changeOf(null)).toBe('');
  expect(changeOf(-9.87)).toBe('−9.87 %');
});

it('compares runs with the baseline in any order', () => {
  const baseline = { runs: [3, 12], deleted_runs: [], threshold_percent: 2, pinned_at_ms: 0 };
  expect(isBaseline([12, 3], { baseline })).toBe(true);
  expect(isBaseline([3], { baseline })).toBe(false);
  expect(isBaseline([], { baseline: { ...baseline, runs: [] } })).toBe(false);
  expect(isBaseline([3], {})).toBe(false);
});

it('recognizes the pinned group if some of its runs are excluded later', () => {
  const baseline = { runs: [3, 12], deleted_runs: [], threshold_percent: 2, pinned_at_ms: 0 };
  const leftOut = (run: number) => ({ run, reason: 'busy host', kind: 'disturbed' as const });
  expect(isPinnedGroup({ runs: [12], excluded: [leftOut(3)] }, { baseline })).toBe(true);
  expect(isPinnedGroup({ runs: [3, 12, 13], excluded: [] }, { baseline })).toBe(false);
  expect(isPinnedGroup({ runs: [12], excluded: [] }, { baseline })).toBe(false);
  expect(isPinnedGroup({ runs: [], excluded: [] }, {})).toBe(false);
});
