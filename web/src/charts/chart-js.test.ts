import { expect, it } from 'vitest';
import { isLabeled, timeLabel, timeTicks, trimZeros } from './chart-js';

it.each([
  [0.005, 0.005, '5 ms'],
  [0.0005, 0.0005, '0.5 ms'],
  [0.5, 0.1, '0.5 s'],
  [-2, 1, '−2 s'],
  [90, 30, '1:30 min'],
  [-60, 30, '−1:00 min'],
  [-90, 30, '−1:30 min'],
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

it.each([
  { ticks: [12e3, 13e3, 14e3, 15e3, 17e3], labels: [12e3, 13e3, 14e3, 15e3, 17e3] },
  { ticks: [24e3, 25e3, 26e3, 28e3, 30e3, 35e3], labels: [25e3, 30e3, 35e3] },
  { ticks: [161, 162, 164, 165, 169, 170, 175, 190], labels: [165, 170, 175, 190] },
  { ticks: [2e3, 3e3, 5e3, 1e4, 2e4, 5e4, 9e4], labels: [2e3, 5e3, 1e4, 2e4, 5e4] },
])('labels at least two of the ticks $ticks', ({ ticks, labels }) => {
  const all = ticks.map((value) => ({ value }));
  expect(ticks.filter((value) => isLabeled(value, all))).toEqual(labels);
});

it.each([
  { min: 0, max: 2, width: 400, expected: [0, 0.5, 1, 1.5, 2] },
  { min: 0, max: 8, width: 1000, expected: [0, 2, 4, 6, 8] },
  { min: -2, max: 30, width: 400, expected: [0, 10, 20, 30] },
  { min: 0, max: 120, width: 400, expected: [0, 30, 60, 90, 120] },
  { min: 0, max: 300, width: 1000, expected: [0, 60, 120, 180, 240, 300] },
  { min: 0, max: 3600, width: 1000, expected: [0, 600, 1200, 1800, 2400, 3000, 3600] },
  { min: 0.02, max: 0.05, width: 250, expected: [0.02, 0.03, 0.04, 0.05] },
  { min: 0, max: 86_400, width: 200, expected: [0, 43_200, 86_400] },
])('time ticks from $min to $max s in $width px', ({ expected, ...axis }) => {
  const { ticks } = timeTicks(axis);
  expect(ticks.map((tick) => Number(tick.toFixed(6)))).toEqual(expected);
});

it.each([
  ['3.50 k', '3.5 k'],
  ['10.0 ms', '10 ms'],
  ['1.00 M', '1 M'],
  ['1.05 k', '1.05 k'],
  ['100 k', '100 k'],
  ['1,200', '1,200'],
  ['0', '0'],
])('trims the tick label %s to %s', (text, label) => expect(trimZeros(text)).toBe(label));
