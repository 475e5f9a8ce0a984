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
  ['all', [100, 100], '2 cells of 8 MiB: 2 in the page cache, 0 in part, 0 not.'],
  ['nothing', [0, 0, 0], '3 cells of 8 MiB: 0 in the page cache, 0 in part, 3 not.'],
  [
    'two stretches',
    [100, 40, 0, 0, 7],
    '5 cells of 8 MiB: 1 in the page cache, 2 in part, 2 not. Cached, at least in part: 0 B to 16 MiB, 32 MiB to 40 MiB.',
  ],
  [
    'many stretches',
    Array.from({ length: 20 }, (_, at) => (at % 2) * 100),
    'and 4 more stretches.',
  ],
])('says a map of %s in words', (_, cells, words) =>
  expect(plain(cacheMapText(cells, { cell_bytes: 8 * MIB }))).toContain(words),
);

it('joins neighbouring cells that are cached alike', () =>
  expect(cachedRanges([100, 100, 40, 0, 0, 40])).toEqual([
    { from: 0, to: 2, percent: 100 },
    { from: 2, to: 3, percent: 40 },
    { from: 5, to: 6, percent: 40 },
  ]));

describe('what lay in the page cache', () => {
  it('stands at three moments, and only what is known', () => {
    const rows = residencyRows({
      residency: { initial: null, start: residency(MIB), end: residency(2 * MIB, null) },
    });
    expect(rows.map(({ name, cells }) => [name, ...cells.map(plain)])).toEqual([
      ['in the page cache', '–', '1 MiB', '2 MiB'],
      ['of it dirty', '–', '0 B', '–'],
    ]);
  });
  it('is nothing where nothing is known', () =>
    expect(residencyRows({ residency: {} })).toEqual([]));
});

it('lists extents by the kinds that occur', () => {
  const before = { ...NO_EXTENTS, unwritten: 3 * MIB, count: 1 };
  const after = { ...NO_EXTENTS, unwritten: MIB, written: 2 * MIB, count: 1200 };
  expect(
    extentRows({ extents: { before, after } }).map(({ name, cells }) => [
      name.split(':')[0],
      ...cells.map(plain),
    ]),
  ).toEqual([
    ['written', '0 B', '2 MiB'],
    ['unwritten', '3 MiB', '1 MiB'],
    ['extents', '1', '1,200'],
  ]);
  expect(extentRows({ extents: {} })).toEqual([]);
});

it('says whether direct can mean what it says, and why not', () => {
  const target = {
    filesystem: 'btrfs',
    device: 'vdb',
    mount_options: 'rw,compress',
    state: { existed: true, written_share: 0.5, cached_share: null },
    direct: {
      reads_past_cache: true,
      writes_past_cache: false,
      offset_align: 4096,
      reasons: ['Checksums are made from a copy.'],
    },
  } as TargetReport;
  expect(targetFacts(target).map(([, words]) => plain(words))).toEqual([
    'btrfs on vdb (rw,compress)',
    'was there, 50 % written, cached not known',
    'reads yes, writes no, aligned to 4 KiB. Checksums are made from a copy.',
  ]);
});

it.each([
  ['/srv/a.data', '/srv/a.data'],
  ["/srv/it's here", "'/srv/it'\\''s here'"],
])('a shell reads %s as %s', (path, shell) => expect(shellQuote(path)).toBe(shell));
