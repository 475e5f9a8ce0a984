import { expect, it } from 'vitest';
import type { RunSummary } from '../../api';
import { describeRun, getDirections, runTitle } from './summary';

const RUN = {
  name: "it's",
  rw: 'randread',
  bs: '4k',
  iodepth: 32,
  numjobs: 1,
  direct: true,
  target: '/data/t1',
  device: 'vda',
} as RunSummary;

it('describes a run in one line', () =>
  expect(describeRun(RUN)).toBe('randread · 4k · depth 32 · 1 job · direct=1 · /data/t1 on vda'));

it('describes a run without a name', () =>
  expect(runTitle({ ...RUN, name: '' })).toBe('4k randread, direct'));

it.each([
  ['randread', { reads: true, writes: false, trims: false }],
  ['randrw', { reads: true, writes: true, trims: false }],
  ['write:8k', { reads: false, writes: true, trims: false }],
  ['trim', { reads: false, writes: false, trims: true }],
])('%s has the directions %j', (rw, directions) =>
  expect(getDirections({ rw } as RunSummary)).toEqual(directions),
);
