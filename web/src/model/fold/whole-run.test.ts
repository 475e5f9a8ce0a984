import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Event } from '../../api';
import { toTiles } from '../run/tiles';
import { RunFold } from './run-fold';
import { foldSeries } from './series-view';
import { meanOf, wholeRun } from './whole-run';

/** A run with 4k direct random reads, a 0.4 s ramp, and a 1.2 s measurement. */
const RECORDED = readFileSync('src/model/fixtures/direct-randread.ndjson', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Event);

function foldOf(events: readonly Event[]): RunFold {
  const fold = new RunFold();
  for (const event of events) fold.apply(event);
  return fold;
}

it('shows the values of the report for a finished run', () => {
  const fold = foldOf(RECORDED);
  const value = wholeRun(foldSeries(fold), fold);
  const read = fold.result?.report.read;
  expect(value?.(['read_iops', 'write_iops'])).toBeCloseTo(read?.iops ?? 0);
  expect(value?.(['lat_p99_ns'])).toBe(read?.lat_ns.percentiles['99']);
  expect(value?.(['lat_max_ns'])).toBe(read?.lat_ns.max);
});

it('has no value for an active run', () => {
  const fold = foldOf(RECORDED.slice(0, -2));
  expect(wholeRun(foldSeries(fold), fold)).toBeNull();
});

it('marks the figures of a run without a report as partial', () => {
  const fold = foldOf(RECORDED.filter(({ type }) => type !== 'report').slice(0, -1));
  fold.status = 'interrupted';
  const [iops, , p50] = toTiles(fold);
  const { read, length_ms } = fold.totals;
  expect(iops?.note).toBe(`Partial: ${read.ios.toLocaleString('en-US')} I/Os`);
  expect(p50?.figure.value).not.toBe('–');
  const whole = wholeRun(foldSeries(fold), fold)?.(['read_iops']) ?? 0;
  expect(whole / ((read.ios * 1000) / length_ms)).toBeCloseTo(1, 1);
});

it('weights windows by their length and ignores the ramp', () => {
  const seconds = [-0.5, 0, 1, 4];
  const values = [1000, 1000, 10, 20];
  const view = {
    length: 4,
    generation: '',
    banded: false,
    seconds: (i: number) => seconds[i] ?? 0,
    value: (i: number) => values[i] ?? null,
  };
  expect(meanOf(view, ['in_flight'])).toBe(17.5);
});
