// The verdict in a few words and a layer: what a badge says and which colour it has. The sentence itself is the
// runner's; where it gave none, the gauge is put into words.
import type { Verdict, VerdictClass, Verdicts } from '../api';
import { count, share } from './format';
import type { Gauge, Layer } from './gauge';

/** What a badge shows: a word, and the layer that lends its colour (null: no layer). */
export interface Badge {
  word: string;
  layer: Layer | null;
}

const BADGES: Record<VerdictClass, Badge> = {
  device: { word: 'device', layer: 3 },
  readahead: { word: 'readahead', layer: 3 },
  page_cache: { word: 'page cache', layer: 1 },
  deferred_write: { word: 'still in memory', layer: 1 },
  amplified: { word: 'amplified', layer: 2 },
  mixed: { word: 'mixed', layer: 2 },
  no_device: { word: 'no device', layer: 0 },
  unknown: { word: 'unknown', layer: null },
};

/** The badge of a class. */
export const badgeOf = (verdict: VerdictClass): Badge => BADGES[verdict];

/** One direction's verdict, ready to be shown. */
export interface VerdictLine extends Badge {
  direction: 'read' | 'write';
  sentence: string;
  evidence: [name: string, value: number][];
}

/** The verdicts of a run, one a direction; empty where there are none. */
export function verdictLines(verdicts: Verdicts | null | undefined): VerdictLine[] {
  const line = (direction: 'read' | 'write', verdict: Verdict | null | undefined) =>
    verdict ? [lineOf(direction, verdict)] : [];
  return [...line('read', verdicts?.read), ...line('write', verdicts?.write)];
}

function lineOf(direction: 'read' | 'write', verdict: Verdict): VerdictLine {
  const badge = badgeOf(verdict.class);
  const part = verdict.shares[verdict.class] as number | undefined;
  const evidence = Object.entries(verdict.evidence) as [string, number][];
  return {
    ...badge,
    word: part === undefined ? badge.word : `${badge.word} ${share(part)}`,
    direction,
    sentence: verdict.sentence,
    evidence,
  };
}

/** What the gauge says, for runs without a verdict; null while nothing was issued. */
export function gaugeInWords(gauge: Gauge, device: string | null): string | null {
  if (gauge.issued.ios === 0) return null;
  const issued = `${count(gauge.issued.ios)} I/Os were issued`;
  if (!gauge.reached) return `${issued}; what reached a device was not counted.`;
  return `${issued}; ${device ?? 'the device'} did ${count(gauge.reached.ios)}, with ${share(gauge.reached.bytes / gauge.issued.bytes)} of the bytes.`;
}
