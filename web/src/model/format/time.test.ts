import { expect, it } from 'vitest';
import { dateTime, duration } from './time';

it.each<[number | null, string]>([
  [0, '0 s'],
  [0.5, '500 µs'],
  [340, '340 ms'],
  [1500, '1.5 s'],
  [30_000, '30 s'],
  [80_000, '1 min 20 s'],
  [7_380_000, '2 h 3 min'],
  [3_600_000, '1 h'],
  [null, '–'],
])('formats %s ms as %s', (ms, expected) =>
  expect(duration(ms).replaceAll('\u00a0', ' ')).toBe(expected),
);

it('formats dates with a 24-hour clock', () =>
  expect(dateTime(new Date(2026, 10, 20, 0, 4, 5).getTime())).toBe('Nov 20, 2026, 00:04:05'));
