import { expect, it } from 'vitest';
import { binaryStep, isLabeled, timeLabel } from './chart-js';

const KIB = 1024;
const MIB = KIB * KIB;
it.each([
  [0, 1],
  [5, 1],
  [900, 256],
  [343 * MIB, 128 * MIB],
  [1400 * MIB, 512 * MIB],
  [5 * 1024 * MIB, 1024 * MIB],
])('an axis up to %i bytes has ticks every %i', (max, step) => expect(binaryStep(max)).toBe(step));

it.each([
  [0.005, 0.005, '5 ms'],
  [0.0005, 0.0005, '0.5 ms'],
  [0.5, 0.1, '0.5 s'],
  [-2, 1, '-2 s'],
  [90, 30, '1:30 min'],
  [-60, 30, '-1:00 min'],
  [-90, 30, '-1:30 min'],
])('labels %d s on an axis with ticks every %d s: %s', (seconds, step, label) =>
  expect(timeLabel(seconds, step)).toBe(label),
);

it('labels 1, 2 and 5 on an axis with few decades', () => {
  const ticks = [5e3, 1e4, 1.5e4, 2e4, 3e4, 5e4, 1e5].map((value) => ({ value }));
  expect(ticks.map(({ value }) => value).filter((value) => isLabeled(value, ticks))).toEqual([
    5e3, 1e4, 2e4, 5e4, 1e5,
  ]);
  const many = [1e3, 2e3, 1e4, 1e6].map((value) => ({ value }));
  expect(many.map(({ value }) => value).filter((value) => isLabeled(value, many))).toEqual([
    1e3, 1e4, 1e6,
  ]);
  const narrow = [2.8e6, 3e6, 3.5e6, 4e6].map((value) => ({ value }));
  expect(narrow.map(({ value }) => value).filter((value) => isLabeled(value, narrow))).toEqual([
    3e6, 4e6,
  ]);
});
