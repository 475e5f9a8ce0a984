// A target before and after: what of it lay in the page cache and on the device, ready to be shown. The numbers are the
// report's; here are their words, and a map of the file in words for those who do not see it.
import type { CacheMap, Extents, Residency, TargetReport } from '../../api';
import { bytes, count, share, text, UNKNOWN } from '../format/numbers';

/** A row of numbers with their names. */
export interface NumberRow {
  name: string;
  cells: string[];
}

const inBytes = (n: number | null | undefined) => text(bytes(n));

/** How a path is written in a shell. */
export const shellQuote = (path: string): string =>
  /^[\w./+:@%,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

/** What lay in the page cache when it was found, at the beginning and at the end; rows of which nothing is known are left out. */
export function residencyRows({
  residency: { initial, start, end },
}: Pick<TargetReport, 'residency'>): NumberRow[] {
  const at = [initial, start, end];
  const row = (
    name: string,
    of: (residency: Residency) => number | null | undefined,
  ): NumberRow[] => {
    const values = at.map((residency) => (residency ? of(residency) : null));
    const known = values.some((value) => value !== null && value !== undefined);
    return known ? [{ name, cells: values.map(inBytes) }] : [];
  };
  return [
    ...row('in the page cache', ({ cached }) => cached),
    ...row('of it dirty', ({ dirty }) => dirty),
    ...row('of it under writeback', ({ writeback }) => writeback),
    ...row('evicted, still remembered', ({ evicted }) => evicted),
  ];
}

const KINDS: readonly [name: string, of: (extents: Extents) => number][] = [
  ['written', ({ written }) => written],
  ['unwritten: allocated, reads as zeros', ({ unwritten }) => unwritten],
  ['hole: reads as zeros', ({ hole }) => hole],
  ['delayed: in memory only', ({ delayed }) => delayed],
  ['inline: inside metadata', ({ inline }) => inline],
  ['encoded: compressed or encrypted', ({ encoded }) => encoded],
  ['shared with another file', ({ shared }) => shared],
];

/** The extents by kind, before and after; kinds that do not occur are left out. */
export function extentRows({
  extents: { before, after },
}: Pick<TargetReport, 'extents'>): NumberRow[] {
  if (!before && !after) return [];
  const cells = (of: (extents: Extents) => number, word: (n: number) => string) =>
    [before, after].map((extents) => (extents ? word(of(extents)) : UNKNOWN));
  const there = KINDS.filter(([, of]) =>
    [before, after].some((extents) => extents && of(extents) > 0),
  );
  return [
    ...there.map(([name, of]) => ({ name, cells: cells(of, inBytes) })),
    { name: 'extents', cells: cells(({ count: extents }) => extents, count) },
  ];
}

/** What the target is and was, as name and words. */
export function targetFacts({
  filesystem,
  device,
  mount_options,
  state,
  direct,
}: TargetReport): [string, string][] {
  const where = [filesystem, device && `on ${device}`, mount_options && `(${mount_options})`]
    .filter(Boolean)
    .join(' ');
  const past = (is: boolean | null | undefined) =>
    is === null || is === undefined ? 'not known' : is ? 'yes' : 'no';
  const align = direct.offset_align ? `, aligned to ${inBytes(direct.offset_align)}` : '';
  return [
    ...(where ? [['lies on', where] as [string, string]] : []),
    ['when it began', beganAs(state)],
    [
      'direct I/O goes past every cache',
      [
        `reads ${past(direct.reads_past_cache)}, writes ${past(direct.writes_past_cache)}${align}.`,
        ...direct.reasons,
      ].join(' '),
    ],
  ];
}

function beganAs({ existed, written_share, cached_share }: TargetReport['state']): string {
  const part = (value: number | null | undefined, word: string) =>
    value === null || value === undefined ? `${word} not known` : `${share(value)} ${word}`;
  return [
    existed ? 'was there' : 'made by this run',
    part(written_share, 'written'),
    part(cached_share, 'cached'),
  ].join(', ');
}

/** Stretches that a map names; more are counted, not named. */
const NAMED_STRETCHES = 6;

/** A map in words: how many cells are cached whole, in part and not, and where. */
export function cacheMapText(
  cells: readonly number[],
  { cell_bytes }: Pick<CacheMap, 'cell_bytes'>,
): string {
  const full = cells.filter((percent) => percent === 100).length;
  const none = cells.filter((percent) => percent === 0).length;
  const counts = `${cells.length} cells of ${inBytes(cell_bytes)}: ${full} in the page cache, ${cells.length - full - none} in part, ${none} not`;
  if (full === cells.length || none === cells.length) return `${counts}.`;
  const cached = stretches(cells);
  const named = cached
    .slice(0, NAMED_STRETCHES)
    .map(([from, to]) => `${inBytes(from * cell_bytes)} to ${inBytes(to * cell_bytes)}`);
  const more =
    cached.length > NAMED_STRETCHES ? ` and ${cached.length - NAMED_STRETCHES} more stretches` : '';
  return `${counts}. Cached, at least in part: ${named.join(', ')}${more}.`;
}

/** Neighbouring cells that are cached alike, and at all. */
export function cachedRanges(
  cells: readonly number[],
): { from: number; to: number; percent: number }[] {
  const found: { from: number; to: number; percent: number }[] = [];
  cells.forEach((percent, at) => {
    const last = found.at(-1);
    if (last && last.to === at && last.percent === percent) last.to = at + 1;
    else found.push({ from: at, to: at + 1, percent });
  });
  return found.filter(({ percent }) => percent > 0);
}

/** Neighbouring cells with something in the cache, as [first, behind the last]. */
function stretches(cells: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  cells.forEach((percent, at) => {
    const last = found.at(-1);
    if (percent > 0 && last?.[1] === at) last[1] = at + 1;
    else if (percent > 0) found.push([at, at + 1]);
  });
  return found;
}
