import { expect, it } from 'vitest';
import type { StepStatistics } from '../../api';
import {
  axesOf,
  cellText,
  firstStep,
  knee,
  longestAxis,
  repeatsText,
  spreadText,
  sweepCells,
  sweepCsv,
  sweepLines,
} from './sweep';

const statistics = (median: number) => ({ n: 3, median, outliers: [] });
const cell = (step: number, bs: string, iodepth: string, iops: number, p99: number) =>
  ({
    step,
    name: '',
    sweep: [
      { option: 'bs', value: bs },
      { option: 'iodepth', value: iodepth },
    ],
    iops: { ...statistics(iops), interval: { low: iops - 1, high: iops + 1 } },
    bytes_per_second: statistics(iops * 4096),
    lat_p99_ns: statistics(p99),
  }) as StepStatistics;

const RESULTS = [
  cell(1, '4k', '1', 10, 100),
  cell(2, '4k', '2', 19, 110),
  cell(3, '4k', '8', 40, 900),
  cell(4, '64k', '1', 5, 300),
  cell(6, '64k', '8', 9, 2000),
];

it('finds the axes in step order', () => {
  const axes = axesOf(RESULTS.toReversed());
  expect(axes).toEqual([
    { option: 'bs', values: ['4k', '64k'] },
    { option: 'iodepth', values: ['1', '2', '8'] },
  ]);
  expect(longestAxis(axes)?.option).toBe('iodepth');
  expect(axesOf([{ step: 1, sweep: [] }])).toEqual([]);
});

it('draws a line per combination of the other options', () => {
  const lines = sweepLines(RESULTS, { option: 'iodepth', values: ['1', '2', '8'] }, 'iops');
  expect(lines.map(({ label, points }) => [label, points.map((point) => point?.median)])).toEqual([
    ['bs=4k', [10, 19, 40]],
    ['bs=64k', [5, undefined, 9]],
  ]);
});

it.each([
  [1000, 3],
  [150, 2],
  [50, undefined],
])('finds the highest IOPS with p99 of at most %i ns', (limit, step) =>
  expect(knee(RESULTS, limit)?.step).toBe(step),
);

it('quotes values with commas', () =>
  expect(sweepCsv([cell(1, '4k,8k', '1', 10, 100)])).toContain('\n"4k,8k",1,3,10'));

it('exports all cells', () => {
  expect(sweepCsv(RESULTS.slice(0, 1))).toBe(
    'bs,iodepth,runs,iops_median,iops_low,iops_high,bytes_per_second_median,bytes_per_second_low,' +
      'bytes_per_second_high,lat_p99_ns_median,lat_p99_ns_low,lat_p99_ns_high\n' +
      '4k,1,3,10,9,11,40960,,,100,,',
  );
});

it('distinguishes the cells of several steps', () => {
  const named = (step: number, name: string, depth: string, iops: number) =>
    ({
      ...cell(step, '4k', depth, iops, 100),
      name: `${name} iodepth=${depth}`,
      sweep: [{ option: 'iodepth', value: depth }],
    }) as StepStatistics;
  const read = [named(1, 'read', '1', 10), named(2, 'read', '2', 20)];
  const write = (name: string) => [named(3, name, '1', 5), named(4, name, '2', 6)];
  const axis = { option: 'iodepth', values: ['1', '2'] };
  const medians = (results: StepStatistics[]) =>
    sweepLines(results, axis, 'iops').map(({ label, points }) => [
      label,
      ...points.map((point) => point?.median),
    ]);
  const results = [...read, ...write('write')];
  expect(medians(results)).toEqual([
    ['read', 10, 20],
    ['write', 5, 6],
  ]);
  expect(medians([...read, ...write('read')])).toEqual([
    ['', 10, 20],
    [' (2)', 5, 6],
  ]);
  const csv = sweepCsv(results).split('\n');
  expect(csv[0]).toContain('step,iodepth,runs');
  expect(csv[3]).toContain('write,1,3,5');
  expect(cellText(write('write')[0] as StepStatistics, results)).toBe('write iodepth=1');
  expect([0, 1].map((index) => firstStep(index, results))).toEqual([1, 3]);
});

it('has a row for cells without a result', () => {
  const steps = [3, 1, 4].map((number) => cell(number, number === 4 ? '64k' : '4k', '1', 0, 0));
  const cells = sweepCells(steps, RESULTS.slice(0, 1));
  expect(cells.map(({ step, iops }) => [step, iops.median])).toEqual([
    [1, 10],
    [3, undefined],
    [4, undefined],
  ]);
  const lines = sweepLines(cells, { option: 'iodepth', values: ['1'] }, 'iops');
  expect(lines.map(({ label }) => label)).toContain('bs=64k');
  expect(repeatsText(cells)).toMatch(/^Medians of 3 runs per cell/);
});

it('shows the spread between the runs of a cell', () => {
  expect(spreadText({ n: 3, median: 5, spread_percent: 12.345, outliers: [] })).toBe('↕ 12.3 %');
  expect(spreadText({ n: 1, median: 5, outliers: [] })).toBe('');
  expect(spreadText(null)).toBe('');
  expect(repeatsText([])).toBe('');
});
