// Target state before and after a run: cached pages, extents and properties, and the cache
// map as text.
import type { CacheMap, Extents, Residency, TargetReport } from '../../api';
import { bytes, count, share, text } from '../format/numbers';

export interface NumberRow {
  name: string;
  cells: string[];
}

const size = (n: number | null | undefined) => text(bytes(n));

/** Quotes a path for use in a shell. */
export const shellQuote = (path: string): string =>
  /^[\w./+:@%,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

const RESIDENCY_ROWS: readonly [name: string, key: keyof Residency][] = [
  ['In the page cache', 'cached'],
  ['Dirty', 'dirty'],
  ['Under writeback', 'writeback'],
  ['Evicted', 'evicted'],
];

/**
 * Pages in the page cache before the run, and at the start and end of the measurement. Rows without
 * values are omitted.
 */
export function residencyRows({
  residency: { initial, start, end },
}: Pick<TargetReport, 'residency'>): NumberRow[] {
  return RESIDENCY_ROWS.flatMap(([name, key]) => {
    const values = [initial, start, end].map((residency) => residency?.[key]);
    const isKnown = values.some((value) => typeof value === 'number');
    return isKnown ? [{ name, cells: values.map(size) }] : [];
  });
}

const EXTENT_ROWS: readonly [name: string, key: keyof Extents][] = [
  ['Written', 'written'],
  ['Unwritten: allocated, reads as zeros', 'unwritten'],
  ['Hole: reads as zeros', 'hole'],
  ['Delayed: in memory only', 'delayed'],
  ['Inline: inside metadata', 'inline'],
  ['Encoded: compressed or encrypted', 'encoded'],
  ['Shared with another file', 'shared'],
];

/** Bytes by kind of extent, before and after the run. Kinds that do not occur are omitted. */
export function extentRows({
  extents: { before, after },
}: Pick<TargetReport, 'extents'>): NumberRow[] {
  if (!before && !after) return [];
  const rows = EXTENT_ROWS.filter(([, key]) => before?.[key] || after?.[key]);
  return [
    ...rows.map(([name, key]) => ({ name, cells: [size(before?.[key]), size(after?.[key])] })),
    { name: 'Extents', cells: [count(before?.count), count(after?.count)] },
  ];
}

/** A target's properties by name. */
export function targetFacts(target: TargetReport): [name: string, value: string][] {
  const { filesystem, device, mount_options, state, direct } = target;
  const location = [filesystem, device && `on ${device}`, mount_options && `(${mount_options})`];
  const yesNo = (value: boolean | null | undefined) => {
    if (value === null || value === undefined) return 'unknown';
    return value ? 'yes' : 'no';
  };
  const reads = `reads ${yesNo(direct.reads_past_cache)}`;
  const writes = `writes ${yesNo(direct.writes_past_cache)}`;
  const align = direct.offset_align ? `, aligned to ${size(direct.offset_align)}` : '';
  const facts: [string, string][] = [
    ['Location', location.filter(Boolean).join(' ')],
    ['State at the start of the measurement', stateText(state)],
    [
      'Direct I/O bypasses the cache',
      [`${reads}, ${writes}${align}.`, ...direct.reasons].join(' '),
    ],
  ];
  return facts.filter(([, value]) => value !== '');
}

function stateText({ existed, written_share, cached_share }: TargetReport['state']): string {
  const part = (value: number | null | undefined, label: string) =>
    value === null || value === undefined ? `${label} share unknown` : `${share(value)} ${label}`;
  return [
    existed ? 'existed before the run' : 'created by this run',
    part(written_share, 'written'),
    part(cached_share, 'cached'),
  ].join(', ');
}

/** Maximum number of ranges to list. Any others are only counted. */
const MAX_LISTED_RANGES = 6;

/** `cells`: percentage of each cell's pages that are cached. */
export function cacheMapText(
  cells: readonly number[],
  { cell_bytes }: Pick<CacheMap, 'cell_bytes'>,
): string {
  const full = cells.filter((percent) => percent === 100).length;
  const none = cells.filter((percent) => percent === 0).length;
  const partial = cells.length - full - none;
  const summary = `${cells.length} cells of ${size(cell_bytes)}: ${full} cached, ${partial} partly cached, ${none} not cached.`;
  if (full === cells.length || none === cells.length) return summary;
  const ranges = toRanges(cells.map((percent) => percent > 0));
  const listed = ranges
    .slice(0, MAX_LISTED_RANGES)
    .map(({ from, to }) => `${size(from * cell_bytes)} to ${size(to * cell_bytes)}`);
  const rest = ranges.length - listed.length;
  const more = rest > 0 ? ` and ${rest} more ranges` : '';
  return `${summary} At least partly cached: ${listed.join(', ')}${more}.`;
}

/** Merges adjacent cells with the same cached share into ranges. Uncached cells are omitted. */
export const cachedRanges = (cells: readonly number[]) =>
  toRanges(cells).map(({ from, to, value: percent }) => ({ from, to, percent }));

/** Ranges of consecutive equal values, excluding 0 and false. */
function toRanges<T extends number | boolean>(values: readonly T[]) {
  const ranges: { from: number; to: number; value: T }[] = [];
  values.forEach((value, i) => {
    const last = ranges.at(-1);
    if (last && last.to === i && last.value === value) last.to = i + 1;
    else if (value) ranges.push({ from: i, to: i + 1, value });
  });
  return ranges;
}
