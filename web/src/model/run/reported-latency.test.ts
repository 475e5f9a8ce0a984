import { describe, expect, it } from 'vitest';
import type { DirectionStats, LatencyStats, Report } from '../../api';
import { latencyTable } from './latency-table';
import { latencyOf, reportedLatencies, reportedText, unfinishedText } from './reported-latency';

const plain = (s: string | null) => s?.replaceAll('\u00a0', ' ');

/** Completed I/Os with a latency of 100 ns, and unfinished ones with an age of 9.5 s. */
function stats(completed: number, unfinished = 0): DirectionStats {
  const lat_ns: LatencyStats = {
    count: completed,
    max: unfinished > 0 ? 9.5e9 : completed > 0 ? 100 : null,
    percentiles: { '50': 100, '99': 9.5e9, '99.9': 9.5e9 },
    buckets: completed > 0 ? [[100, completed]] : [],
    ...(unfinished > 0 && { at_least: ['99', '99.9', 'max'] }),
  };
  const rates = { bytes: 0, iops: 0, bytes_per_second: 0 };
  const other = { slat_ns: { ...lat_ns, count: 0, max: null }, clat_ns: lat_ns };
  return {
    ios: completed,
    ...rates,
    ...other,
    lat_ns,
    unfinished: { ios: unfinished, oldest_ns: unfinished > 0 ? 9.5e9 : 0 },
  };
}

const reportOf = (read: DirectionStats, write = stats(0), syncs = 0) =>
  ({
    read,
    write,
    trim: stats(0),
    sync: { ...stats(0), unfinished: { ios: syncs, oldest_ns: syncs > 0 ? 5e9 : 0 } },
  }) as unknown as Report;

const texts = (report: Report) => {
  const { p50, p99, p999, max } = reportedLatencies(report);
  return [p50, p99, p999, max].map((value) => plain(reportedText(value)));
};

describe('key latencies', () => {
  it.each([
    ['one direction', reportOf(stats(90, 10)), ['100 ns', '≥ 9.50 s', '≥ 9.50 s', '≥ 9.50 s']],
    [
      'one of two directions hangs',
      reportOf(stats(90, 10), stats(900)),
      // p50 is the midpoint of its bucket, and the maximum is exact.
      ['100 ns', '100 ns', '≥ 9.46 s', '≥ 9.50 s'],
    ],
    ['all I/Os completed', reportOf(stats(5), stats(5)), ['100 ns', '100 ns', '100 ns', '100 ns']],
    ['no I/O', reportOf(stats(0)), ['–', '–', '–', '–']],
  ])('%s', (_, report, expected) => {
    expect(texts(report)).toEqual(expected);
  });
});

it('counts unfinished I/Os in distributions after a hang', () => {
  expect(latencyOf(reportOf(stats(90, 10))).map(([, count]) => count)).toEqual([90, 10]);
  expect(latencyOf({ read: { ...stats(90), unfinished: null } })).toEqual([[100, 90]]);
});

it('describes unfinished I/Os', () => {
  const check = (report: Report, text: string | null) =>
    expect(plain(unfinishedText(report)) ?? null).toBe(text);
  check(reportOf(stats(5)), null);
  check(reportOf(stats(5, 32)), '32 I/Os were in flight at the end, the oldest for 9.50 s.');
  check(reportOf(stats(5), stats(0), 1), '1 sync was in flight at the end, the oldest for 5 s.');
});

it('has a column for I/Os that never completed', () => {
  const { headers, rows } = latencyTable(reportOf(stats(0, 1)));
  expect(headers).toEqual(['read lat', 'read clat']);
  const max = rows.find(([name]) => name === 'max')?.[1][0];
  expect(max && plain(reportedText(max))).toBe('≥ 9.50 s');
});

it('does not show another program’s clat percentiles as lat percentiles', () => {
  const foreign = { percentiles_of: 'clat' } as Report['foreign'];
  const { rows } = latencyTable({ ...reportOf(stats(5)), foreign });
  const textsOf = (row: string) =>
    rows.find(([name]) => name === row)?.[1].map((value) => plain(reportedText(value)));
  expect(textsOf('p50')).toEqual(['–', '100 ns']);
  expect(textsOf('max')).toEqual(['100 ns', '100 ns']);
});
