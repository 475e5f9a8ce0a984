import { describe, expect, it } from 'vitest';
import type { Extents, Residency, TargetReport } from '../../api';
import {
  cachedRanges,
  cacheMapText,
  extentRows,
  residencyRows,
  shellQuote,
  targetFacts,
} from './targets';

const MIB = 2 ** 20;
const plain = (text: string) => text.replaceAll('\u00a0', ' ');
const residency = (cached: number, dirty: number | null = 0): Residency => ({
  cached,
  dirty,
  writeback: null,
  evicted: null,
});
const NO_EXTENTS: Extents = {
  count: 0,
  written: 0,
  unwritten: 0,
  hole: 0,
  delayed: 0,
  inline: 0,
  encoded: 0,
  shared: 0,
};

it.each<[string, number[], string]>([
  ['all', [100, 100], '2 cells of 8 MiB: 2 cached, 0 partly cached, 0 not cached.'],
  ['nothing', [0, 0, 0], '3 cells of 8 MiB: 0 cached, 0 partly cached, 3 not cached.'],
  [
    'two ranges',
    [100, 40, 0, 0, 7],
    '5 cells of 8 MiB: 1 cached, 2 partly cached, 2 not cached. At least partly cached: 0 B to 16 MiB, 32 MiB to 40 MiB.',
  ],
  ['many ranges', Array.from({ length: 20 }, (_, i) => (i % 2) * 100), 'and 4 more ranges.'],
])('describes a cache map of %s', (_, cells, expected) =>
  expect(plain(cacheMapText(cells, { cell_bytes: 8 * MIB }))).toContain(expected),
);

it('joins neighboring cells with the same share', () =>
  expect(cachedRanges([100, 100, 40, 0, 0, 40])).toEqual([
    { from: 0, to: 2, percent: 100 },
    { from: 2, to: 3, percent: 40 },
    { from: 5, to: 6, percent: 40 },
  ]));

describe('residencyRows', () => {
  it('omits rows without values', () => {
    const rows = residencyRows({
      residency: { initial: null, start: residency(MIB), end: residency(2 * MIB, null) },
    });
    expect(rows.map(({ name, cells }) => [name, ...cells.map(plain)])).toEqual([
      ['In the page cache', '–', '1 MiB', '2 MiB'],
      ['Dirty', '–', '0 B', '–'],
    ]);
  });
  it('is empty without values', () => expect(residencyRows({ residency: {} })).toEqual([]));
});

it('lists used kinds of extents', () => {
  const before = { ...NO_EXTENTS, unwritten: 3 * MIB, count: 1 };
  const after = { ...NO_EXTENTS, unwritten: MIB, written: 2 * MIB, count: 1200 };
  expect(
    extentRows({ extents: { before, after } }).map(({ name, cells }) => [
      name.split(':')[0],
      ...cells.map(plain),
    ]),
  ).toEqual([
    ['Written', '0 B', '2 MiB'],
    ['Unwritten', '3 MiB', '1 MiB'],
    ['Extents', '1', '1,200'],
  ]);
  expect(extentRows({ extents: {} })).toEqual([]);
});

it('shows whether direct I/O bypasses the cache, and why not', () => {
  const target = {
    filesystem: 'btrfs',
    device: 'vdb',
    mount_options: 'rw,compress',
    state: { existed: true, written_share: 0.5, cached_share: null },
    direct: {
      reads_past_cache: true,
      writes_past_cache: false,
      offset_align: 4096,
      reasons: ['Checksums need a copy.'],
    },
  } as TargetReport;
  expect(targetFacts(target)[1]?.[0]).toBe('State at the start of the measurement');
  expect(targetFacts(target).map(([, value]) => plain(value))).toEqual([
    'btrfs on vdb (rw,compress)',
    'existed before the run, 50 % written, cached share unknown',
    'reads yes, writes no, aligned to 4 KiB. Checksums need a copy.',
  ]);
});

it.each([
  ['/srv/a.data', '/srv/a.data'],
  ["/srv/it's here", "'/srv/it'\\''s here'"],
])('quotes %s as %s', (path, shell) => expect(shellQuote(path)).toBe(shell));
