// Verdicts for display: label and layer of each class, I/O shares, modifiers, and the
// suggested rerun. The runner writes the summary. Runs without a verdict are handled in
// `gauge/gauge-text`.
import type {
  Finding,
  Layer,
  Modifier,
  ModifierKind,
  Proof,
  Run,
  Verdict,
  VerdictClass,
  Verdicts,
} from '../../api';
import { bytes, digits, share, text } from '../format/numbers';

export interface Badge {
  label: string;
  /** Layer that determines the color; null for a neutral color. */
  layer: Layer | null;
}

interface ClassDisplay extends Badge {
  /** The share that the badge shows. */
  share?: string;
  /** What served the I/Os, if not the disk. */
  note?: string;
}

const CLASSES: Record<VerdictClass, ClassDisplay> = {
  device: { label: 'Device', layer: 'device', share: 'device' },
  readahead: { label: 'Readahead', layer: 'device', share: 'device' },
  merged: { label: 'Merged', layer: 'device', share: 'device' },
  foreign: { label: 'Shared device', layer: 'device' },
  page_cache: {
    label: 'Page cache',
    layer: 'page_cache',
    share: 'page_cache',
    note: 'from memory, not the disk',
  },
  deferred_write: {
    label: 'Still in memory',
    layer: 'page_cache',
    share: 'page_cache',
    note: 'to memory, not yet to the disk',
  },
  lower_cache: {
    label: 'Lower cache',
    layer: 'page_cache',
    share: 'lower_cache',
    note: 'from a lower cache',
  },
  unwritten: {
    label: 'Never written',
    layer: 'filesystem',
    share: 'unwritten',
    note: 'zeros from the filesystem',
  },
  amplified: { label: 'Amplified', layer: 'filesystem' },
  mixed: { label: 'Mixed', layer: 'filesystem' },
  no_device: { label: 'No device', layer: 'application' },
  unknown: { label: 'Unknown', layer: null },
};

/** Verdicts for all directions that have one. */
export function listVerdicts(
  verdicts: Verdicts | null | undefined,
): { direction: 'read' | 'write'; verdict: Verdict }[] {
  return (['read', 'write'] as const).flatMap((direction) => {
    const verdict = verdicts?.[direction];
    return verdict ? [{ direction, verdict }] : [];
  });
}

export const badgeOf = (verdict: VerdictClass): Badge => CLASSES[verdict];

/** What served the I/Os, if it is the same in all directions. Null if it was the disk. */
export function servedByNote(verdicts: Verdicts | null | undefined): string | null {
  const notes = listVerdicts(verdicts).map(({ verdict }) => CLASSES[verdict.class].note);
  return (new Set(notes).size === 1 && notes[0]) || null;
}

const MEMORY = new Set<VerdictClass>(['page_cache', 'lower_cache', 'deferred_write']);

/** Returns true if memory served the I/Os in all directions. */
export function isServedFromMemory(verdicts: Verdicts | null | undefined): boolean {
  const all = listVerdicts(verdicts);
  return all.length > 0 && all.every(({ verdict }) => MEMORY.has(verdict.class));
}

/** Returns true if buffered reads reached the device, because their data was not in memory. */
export function areColdReads(
  { mode }: Pick<Run, 'mode'>,
  verdicts: Verdicts | null | undefined,
): boolean {
  const isFromDisk = verdicts?.read?.class === 'device' || verdicts?.read?.class === 'mixed';
  return mode === 'buffered' && isFromDisk && listVerdicts(verdicts).length === 1;
}

/** All classes, for use in filters. */
export const VERDICT_LABELS = Object.entries(CLASSES).map(([name, { label }]) => ({ name, label }));

const LOCATIONS: Record<string, string> = {
  device: 'device',
  page_cache: 'page cache',
  lower_cache: 'cache below the device',
  unwritten: 'unwritten blocks',
  filesystem: 'filesystem',
  no_device: 'no device',
  unknown: 'unknown',
};

/** Text for each modifier, including its factor or bytes. */
const MODIFIERS: Record<ModifierKind, (modifier: Modifier, direction: Direction) => string> = {
  readahead: ({ factor }) => `readahead ${times(factor)}`,
  merged: ({ factor }) => `merged ${times(factor)}`,
  split: ({ factor }) => `split ${times(factor)}`,
  amplified: ({ factor }) => `amplified ${times(factor)}`,
  deferred: (modifier) => `${size(modifier.bytes)} went only to memory`,
  foreign: (modifier, direction) =>
    `${size(modifier.bytes)} ${direction === 'read' ? 'read' : 'written'} by other programs`,
};

const times = (factor: number | null | undefined) =>
  typeof factor === 'number' ? `${digits(factor)}×` : '';

const size = (count: number | null | undefined) =>
  typeof count === 'number' ? text(bytes(count)) : '';

type Direction = 'read' | 'write';

export interface VerdictLine extends Badge {
  direction: Direction;
  sentence: string;
  /**
   * Shares and modifiers as text. Empty if a single layer served all I/Os and there are no
   * modifiers.
   */
  detail: string;
  proof: readonly Proof[];
}

export const verdictLines = (verdicts: Verdicts | null | undefined): VerdictLine[] =>
  listVerdicts(verdicts).map(({ direction, verdict }) => {
    const { label, layer, share: location } = CLASSES[verdict.class];
    const part = location === undefined ? undefined : verdict.shares[location];
    return {
      label: part === undefined ? label : `${label} ${share(part)}`,
      layer,
      direction,
      sentence: verdict.sentence,
      detail: [sharesText(verdict), ...modifiersOf(verdict, direction)].filter(Boolean).join(' · '),
      proof: verdict.proof,
    };
  });

const modifiersOf = ({ modifiers = [] }: Verdict, direction: Direction) =>
  modifiers.map((modifier) => MODIFIERS[modifier.kind](modifier, direction).trim());

/** Smaller uncertainties are not shown. */
const MIN_UNCERTAINTY = 0.0005;

/** Runs recorded before I/O sampling existed have byte shares. */
function sharesText({ shares, byte_shares, uncertainty }: Verdict): string {
  const descending = Object.entries(shares).toSorted(([, a], [, b]) => b - a);
  const isExact = uncertainty < MIN_UNCERTAINTY;
  if (descending.length === 0 || (descending[0]?.[1] === 1 && isExact)) return '';
  const parts = descending.map(([location, part]) => {
    const label = LOCATIONS[location] ?? location.replaceAll('_', ' ');
    return `${label} ${share(part)}`;
  });
  const bound = isExact ? '' : ` (±${digits(uncertainty * 100)} percentage points)`;
  const unit = Object.keys(byte_shares ?? {}).length > 0 ? 'I/Os' : 'Bytes';
  return `${unit} served by: ${parts.join(', ')}${bound}`;
}

/** The most severe finding that suggests a rerun with different options. Notes are ignored. */
export function topRemedy(findings: readonly Finding[]): Finding | null {
  const hasPatch = ({ patch, patch_label }: Finding) =>
    patch_label && Object.keys(patch ?? {}).length > 0;
  const first = (severity: Finding['severity']) =>
    findings.find((finding) => finding.severity === severity && hasPatch(finding));
  return first('serious') ?? first('warning') ?? null;
}
