import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Change, ComparedMetric, Comparison } from '../../api';
import {
  additionalRunsText,
  changeText,
  formatChange,
  formatValue,
  includedRuns,
  intervalText,
  metricGroup,
  metricLabel,
  metricName,
  representativeRun,
  valueOfGroup,
} from './metrics';
import { parseRunNumbers } from './run-numbers';

const plain = (s: string) => s.replaceAll('\u00a0', ' ');

it.each([
  ['1,2,3', [1, 2, 3]],
  ['#4 #2,4', [4, 2]],
  ['0,-1,x,7', [7]],
  [undefined, []],
  ['1,2,3,4,5,6,7,8,9', [1, 2, 3, 4, 5, 6, 7, 8]],
])('parses %j to %j', (runs, numbers) => expect(parseRunNumbers(runs)).toEqual(numbers));

it.each([
  [null, ''],
  [0, '±0 %'],
  [-0.001, '±0 %'],
  [2.41, '+2.41 %'],
  [-99.6, '−99.6 %'],
  [824, '9.24 ×'],
  [-99.97, '−99.97 %'],
  [-99.9997, '−99.99 %'],
  [-100, '−100 %'],
])('formats a change of %j as %s', (change, expected) =>
  expect(formatChange(change)).toBe(expected),
);

it.each([
  [87_900, '1/s', '87.9 k'],
  [362_000, 'ns', '362 µs'],
  [91.2, '%', '91.2 %'],
  [30_000, 'ms', '30 s'],
  [31.4, '1', '31.4'],
  [null, 'ns', '–'],
])('formats %j %s as %s', (value, unit, expected) =>
  expect(plain(formatValue(value, unit))).toBe(expected),
);

it.each<[Partial<Change>, string]>([
  [{ more: { repeats: 9, duration_ms: 240_000 }, paired: true }, '≈ 9 more pairs, 4 min'],
  [{ more: { repeats: 1, duration_ms: 0 }, paired: true }, '≈ 1 more pair'],
  [{ more: { repeats: 2, duration_ms: 0 }, paired: false }, '≈ 2 more runs per group'],
  [{ more: null }, ''],
])('formats the missing repeats of %j', (change, expected) =>
  expect(plain(additionalRunsText(change as Change))).toBe(expected),
);

describe('metricName', () => {
  it.each<[ComparedMetric['name'], number, string]>([
    ['read_iops', 1, 'IOPS'],
    ['read_iops', 2, 'Read IOPS'],
    ['read_lat_p99_ns', 1, 'p99 latency'],
    ['write_lat_p99_ns', 2, 'Write p99 latency'],
    ['device_read_bytes_per_second', 1, 'Device read bandwidth'],
    ['cpu_ns_per_io', 1, 'CPU time per I/O'],
    ['device_utilization', 1, 'Device utilization'],
    ['errors', 1, 'Errors'],
  ])('%s of %i directions is %s', (name, directions, expected) => {
    expect(
      metricName(
        {
          name,
          unit: '1',
          threshold_percent: 2,
          values: [],
          at_least: [],
          groups: [],
          changes: [],
        },
        directions,
      ),
    ).toBe(expected);
  });
});

it('labels metrics as the server does', () => {
  const path = new URL('../../../openapi.json', import.meta.url);
  const { components } = JSON.parse(readFileSync(path, 'utf8'));
  const lines = components.schemas.ComparedMetricName.description.split('\n');
  const labels = lines.map((line: string) => /^- `(\w+)`: (.*)$/.exec(line)?.slice(1) ?? []);
  expect(labels.length).toBeGreaterThan(30);
  for (const [name, label] of labels) expect(metricLabel(name, 2)).toBe(label);
});

const change = (percent: number, interval?: [number, number]): Change => ({
  percent,
  paired: false,
  baseline_n: 1,
  n: 1,
  interval_percent: interval ? { low: interval[0], high: interval[1] } : null,
});

it('marks lower bounds', () => {
  const metric: ComparedMetric = {
    name: 'read_lat_p99_ns',
    unit: 'ns',
    threshold_percent: 2,
    values: [2e6, 9.5e9, 1e6],
    at_least: [false, true, false],
    groups: [],
    changes: [null, change(200), change(-50)],
  };
  const runs = [0, 1, 2];
  expect(runs.map((run) => plain(valueOfGroup(metric, [run], run).text))).toEqual([
    '2 ms',
    '≥ 9.50 s',
    '1 ms',
  ]);
  expect(runs.map((run) => plain(changeText(metric, [run], run)))).toEqual([
    '',
    '≥ +200 %',
    '−50 %',
  ]);
});

const COMPARISON = {
  groups: [
    { label: 'a', excluded: [3] },
    { label: 'b', excluded: [] },
  ],
  runs: [0, 0, 0, 0, 1].map((group, index) => ({ group, run: { number: index + 1 } })),
  metrics: [
    {
      name: 'read_iops',
      unit: '1/s',
      values: [900, 1000, 1200, 1000, 500],
      at_least: [false, false, false, false, false],
      groups: [
        { n: 3, median: 1000, outliers: [] },
        { n: 1, median: 500, outliers: [] },
      ],
      changes: [null, change(-50)],
    },
  ],
} as unknown as Comparison;

it('shows the median of a group', () => {
  const metric = COMPARISON.metrics[0] as ComparedMetric;
  expect(plain(valueOfGroup(metric, [0, 1, 2], 0).text)).toBe('1 k');
  expect(representativeRun(COMPARISON, 0)?.run.number).toBe(2);
  expect(representativeRun(COMPARISON, 1)?.run.number).toBe(5);
});

it('leaves out excluded runs', () => {
  expect(includedRuns(COMPARISON, 0)).toEqual([0, 1, 2]);
  expect(includedRuns(COMPARISON, 1)).toEqual([4]);
});

it('formats intervals', () => {
  expect(intervalText(change(-4, [-5.52, -2.84]))).toBe('−5.52 to −2.84 %');
  expect(intervalText(change(-4, [-5, 800]))).toBe('−5 % to 9 ×');
  expect(intervalText(change(-4))).toBe('');
});

it.each([
  ['read_iops', 'Throughput'],
  ['write_bytes_per_second', 'Throughput'],
  ['trim_lat_p99_ns', 'Latency'],
  ['sync_lat_mean_ns', 'Latency'],
  ['write_intended_lat_p99_ns', 'Latency'],
  ['device_read_iops', 'Device'],
  ['device_utilization', 'Device'],
  ['cpu_ns_per_io', 'Other'],
  ['duration_ms', 'Other'],
])('groups %s under %s', (name, group) => expect(metricGroup(name)).toBe(group));
