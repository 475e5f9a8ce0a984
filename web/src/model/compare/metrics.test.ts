import { describe, expect, it } from 'vitest';
import type { ComparedMetric } from '../../api';
import { formatChange, formatValue, metricName, parseRunNumbers } from './metrics';

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
    expect(metricName({ name, unit: '1', values: [], change_percent: [] }, directions)).toBe(
      expected,
    );
  });
});
