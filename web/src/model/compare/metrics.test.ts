import { describe, expect, it } from 'vitest';
import type { ComparedMetric } from '../../api';
import {
  changeText,
  formatChange,
  formatValue,
  metricName,
  parseRunNumbers,
  valueText,
} from './metrics';

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
      metricName({ name, unit: '1', values: [], at_least: [], change_percent: [] }, directions),
    ).toBe(expected);
  });
});

it('marks lower bounds', () => {
  const metric: ComparedMetric = {
    name: 'read_lat_p99_ns',
    unit: 'ns',
    values: [2e6, 9.5e9, 1e6],
    at_least: [false, true, false],
    change_percent: [null, 200, -50],
  };
  expect([0, 1, 2].map((run) => plain(valueText(metric, run)))).toEqual([
    '2 ms',
    '≥ 9.50 s',
    '1 ms',
  ]);
  expect([0, 1, 2].map((run) => plain(changeText(metric, run)))).toEqual(['', '≥ +200 %', '−50 %']);
});
