// The few words that stand in a layer of the depth gauge: what happened to the flow there.

import { bytes, text } from '../format/numbers';
import type { Gauge } from './gauge';
import { type GaugeInput, type LayerFlow, NEGLIGIBLE, shareOf } from './layer-flow';

/** Above this ratio more was done than was asked; less is metadata and rounding. */
const AMPLIFIED = 1.1;
/** From this share of the issued bytes on, a layer is said to have answered. */
const SAID = 0.1;

/** The notes of a gauge. */
export function layerNotes(gauge: Gauge, input: GaugeInput): Gauge['notes'] {
  if (gauge.issued.ios === 0) return {};
  const others = gauge.foreign
    ? `and ${text(bytes(gauge.foreign.bytes))} for ${gauge.foreign.source}`
    : '';
  const notes: Gauge['notes'] = {};
  notes[1] = inCache(gauge, input);
  if (gauge.reached && gauge.pastCache)
    notes[2] = byFilesystem(input) || inBlock(gauge.pastCache, gauge.reached, gauge.issued);
  notes[3] = gauge.reached ? others : 'not counted';
  return notes;
}

const times = (n: number) => n.toLocaleString('en-US', { maximumSignificantDigits: 2 });

function inCache({ bypassed, pastCache, issued }: Gauge, input: GaugeInput): string {
  if (bypassed) return 'bypassed';
  if (!pastCache) return '';
  const writing = input.write.bytes > input.read.bytes;
  const waiting = input.waiting_bytes ?? 0;
  if (writing && waiting > input.write.bytes * NEGLIGIBLE)
    return `${text(bytes(waiting))} still in memory, not yet written`;
  return cached(issued, pastCache, writing);
}

function cached(issued: LayerFlow, past: LayerFlow, writing: boolean): string {
  const [ios, share] = [past.ios / issued.ios, past.bytes / issued.bytes];
  if (share < NEGLIGIBLE)
    return writing ? 'taken into memory, not yet written' : 'answered from memory';
  if (ios < share / 2)
    return `${writing ? 'gathered' : 'readahead'}: ${times(share / ios)} ${writing ? 'writes' : 'reads'} in one`;
  if (share > AMPLIFIED) return `${times(share)} × the bytes asked for`;
  const kept = Math.round((1 - share) * 100);
  return kept < 1 ? '' : `${kept} % ${writing ? 'still in memory' : 'answered from memory'}`;
}

/** What the verdict found that the filesystem answered by itself. */
function byFilesystem(input: GaugeInput): string {
  if (shareOf(input, 'unwritten') > SAID) return 'answered here with zeros: never written';
  return shareOf(input, 'filesystem') > SAID ? 'answered here: compressed or inline data' : '';
}

function inBlock(past: LayerFlow, reached: LayerFlow, issued: LayerFlow): string {
  if (past.ios === 0) return '';
  if (reached.bytes < issued.bytes * NEGLIGIBLE && past.bytes > issued.bytes / 2)
    return 'answered here: holes or blocks never written';
  if (reached.bytes > past.bytes * AMPLIFIED || reached.ios > past.ios * AMPLIFIED) {
    return `journal, metadata or others: ${times(Math.max(reached.ios / past.ios, reached.bytes / Math.max(1, past.bytes)))} × as much`;
  }
  if (past.bytes < issued.bytes * NEGLIGIBLE) return '';
  return reached.ios < past.ios * 0.9
    ? `merged: ${times(past.ios / Math.max(1, reached.ios))} in one`
    : '';
}
