// The verdict in a few words and a layer: what a badge says and which colour it has, the shares behind it, and the one
// rerun that matters. The sentence itself is the runner's; where it gave none, the gauge is put into words.
import type { Finding, Proof, Verdict, VerdictClass, Verdicts } from '../../api';
import { bytes, count, digits, share, text, UNKNOWN } from '../format/numbers';
import type { Gauge, Layer } from '../gauge/gauge';

/** What a badge shows: a word, and the layer that lends its colour (null: no layer). */
export interface Badge {
  label: string;
  layer: Layer | null;
}

/** A class: its badge, the share of the bytes that it speaks of, and whose the number is where it is not the disk's. */
interface Class extends Badge {
  share?: string;
  whose?: string;
}

const CLASSES: Record<VerdictClass, Class> = {
  device: { label: 'device', layer: 3, share: 'device' },
  readahead: { label: 'readahead', layer: 3, share: 'device' },
  merged: { label: 'merged', layer: 3, share: 'device' },
  foreign: { label: 'device, shared', layer: 3 },
  page_cache: {
    label: 'page cache',
    layer: 1,
    share: 'page_cache',
    whose: 'memory’s, not the disk’s',
  },
  deferred_write: {
    label: 'still in memory',
    layer: 1,
    share: 'page_cache',
    whose: 'memory’s, not yet the disk’s',
  },
  unwritten: {
    label: 'never written',
    layer: 2,
    share: 'unwritten',
    whose: 'the filesystem’s: nothing to read',
  },
  amplified: { label: 'amplified', layer: 2 },
  mixed: { label: 'mixed', layer: 2 },
  no_device: { label: 'no device', layer: 0 },
  unknown: { label: 'unknown', layer: null },
};

/** The badge of a class. */
export const badgeOf = (verdict: VerdictClass): Badge => CLASSES[verdict];

/** Whose the number is, where it is not the disk's; null where it is, or nobody knows. */
export function servedByNote(verdicts: Verdicts | null | undefined): string | null {
  const classes = [verdicts?.read, verdicts?.write].flatMap((verdict) =>
    verdict ? [CLASSES[verdict.class].whose] : [],
  );
  return (new Set(classes).size === 1 && classes[0]) || null;
}

/** Whether memory answered everything that the number counts. */
export function isServedFromMemory(verdicts: Verdicts | null | undefined): boolean {
  const all = [verdicts?.read, verdicts?.write].filter(
    (verdict) => verdict !== null && verdict !== undefined,
  );
  return (
    all.length > 0 &&
    all.every((verdict) => verdict.class === 'page_cache' || verdict.class === 'deferred_write')
  );
}

/** Every class with its word, for whoever chooses one. */
export const VERDICTS = Object.entries(CLASSES).map(([name, { label }]) => ({ name, label }));

const PLACES: Record<string, string> = {
  device: 'device',
  page_cache: 'page cache',
  unwritten: 'blocks never written',
  filesystem: 'the filesystem by itself',
  no_device: 'no device',
};

/** One direction's verdict, ready to be shown. */
export interface VerdictLine extends Badge {
  direction: 'read' | 'write';
  sentence: string;
  /** Where the bytes were answered, and how far that may be off; empty when not known. */
  shares: string;
  proof: readonly Proof[];
}

/** The verdicts of a run, one a direction; empty where there are none. */
export function verdictLines(verdicts: Verdicts | null | undefined): VerdictLine[] {
  const line = (direction: 'read' | 'write', verdict: Verdict | null | undefined) =>
    verdict ? [lineOf(direction, verdict)] : [];
  return [...line('read', verdicts?.read), ...line('write', verdicts?.write)];
}

function lineOf(
  direction: 'read' | 'write',
  { class: name, sentence, shares, uncertainty, proof }: Verdict,
): VerdictLine {
  const { label, layer, share: spoken } = CLASSES[name];
  const part = spoken === undefined ? undefined : shares[spoken];
  return {
    label: part === undefined ? label : `${label} ${share(part)}`,
    layer,
    direction,
    sentence,
    shares: sharesInWords(shares, uncertainty),
    proof,
  };
}

/** Less than this is not worth saying, as a share. */
const SURE = 0.0005;

function sharesInWords(shares: Verdict['shares'], uncertainty: number): string {
  const largestFirst = Object.entries(shares).toSorted(([, a], [, b]) => b - a);
  const words = largestFirst.map(
    ([place, part]) => `${PLACES[place] ?? place.replaceAll('_', ' ')} ${share(part)}`,
  );
  const off = uncertainty >= SURE ? `, each ± ${digits(uncertainty * 100)} points` : '';
  return words.length > 0 ? `of the bytes: ${words.join(', ')}${off}` : '';
}

/** The rerun that matters most: that of the gravest finding that an option mends; null where none is more than a note. */
export function topRemedy(findings: readonly Finding[]): Finding | null {
  const mends = ({ patch, patch_label }: Finding) =>
    patch_label && Object.keys(patch ?? {}).length > 0;
  const of = (severity: Finding['severity']) =>
    findings.find((finding) => finding.severity === severity && mends(finding));
  return of('serious') ?? of('warning') ?? null;
}

/** One number of the proof, as its reader compares it with the command's. */
export interface ProofRow {
  before: string;
  after: string;
  difference: string;
  /** The difference in larger units, where it has some. */
  short: string;
}

/** A row of the proof in every digit: commands print every digit too. */
export function proofRow({ before, after, difference, unit }: Proof): ProofRow {
  const sign = difference > 0 ? '+' : difference < 0 ? '−' : '';
  const size = Math.abs(difference);
  return {
    before: before === null || before === undefined ? UNKNOWN : count(before),
    after: after === null || after === undefined ? UNKNOWN : count(after),
    difference: `${sign}${count(size)}`,
    short: unit === 'bytes' && size >= 1024 ? `${sign}${text(bytes(size))}` : '',
  };
}

/** What the gauge says, for runs without a verdict; null while nothing was issued. */
export function gaugeText(gauge: Gauge, device: string | null): string | null {
  if (gauge.issued.ios === 0) return null;
  const issued = `${count(gauge.issued.ios)} I/Os were issued`;
  if (!gauge.reached) return `${issued}; what reached a device was not counted.`;
  const others = gauge.foreign
    ? ` It moved ${text(bytes(gauge.foreign.bytes))} for ${gauge.foreign.source} besides.`
    : '';
  return `${issued}; ${device ?? 'the device'} did ${count(gauge.reached.ios)}, with ${share(gauge.reached.bytes / gauge.issued.bytes)} of the bytes.${others}`;
}
