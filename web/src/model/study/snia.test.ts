import { expect, it } from 'vitest';
import type { CellValue, SniaResults } from '../../api';
import { blockText, cellText, convergence, mixLines, SNIA_METRICS, sniaCsv } from './snia';

const value = (iops: number): CellValue => ({ iops, bytes_per_second: iops * 4096, ios: 9 });
const cell = (mix: number, block: number, iops: number | null) => ({
  mix,
  block,
  value: iops === null ? null : value(iops),
});
const results = {
  test: 'iops',
  cells: [cell(100, 65536, 5), cell(100, 512, 8), cell(0, 65536, 4), cell(0, 512, null)],
  rounds: [
    { round: 1, values: [value(1), value(2), value(3), null] },
    { round: 2, values: [value(1), value(2), value(5), value(6)] },
  ],
} as SniaResults;
const [iops] = SNIA_METRICS.iops;
if (!iops) throw new Error('no metric');

it('draws the writes of each block size by round', () =>
  expect(convergence(results, iops)).toEqual([
    { label: '64 KiB', values: [3, 5] },
    { label: '0.5 KiB', values: [null, 6] },
  ]));

it('draws a line per mix over the block sizes', () =>
  expect(mixLines(results, iops)).toEqual([
    { label: '100/0', values: [8, 5] },
    { label: '0/100', values: [null, 4] },
  ]));

it('names cells as in the specification', () => {
  expect(blockText(1 << 20)).toBe('1024 KiB');
  expect(cellText(results, 0, 65536, iops)).toBe('4');
  expect(cellText(results, 0, 512, iops)).toBe('–');
});

it('exports all rounds', () =>
  expect(sniaCsv(results).split('\n').slice(3, 6)).toEqual([
    '1,0,65536,3,12288,,,9',
    '1,0,512,,,,,',
    '2,100,65536,1,4096,,,9',
  ]));
