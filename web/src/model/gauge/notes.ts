// Short notes on what happened in each layer of the depth gauge.
import { bytes, text } from '../format/numbers';
import { type GaugeInput, type LayerFlow, NEGLIGIBLE, shareOf } from './layer-flow';
import type { Gauge } from './types';

/** Smaller ratios to the issued I/O are metadata and rounding errors. */
const AMPLIFIED = 1.1;
/** Shares of issued bytes above this are noted. */
const MIN_SERVED = 0.1;

export function layerNotes(gauge: Gauge, input: GaugeInput): Gauge['notes'] {
  const { issued, pastCache, reached, foreign } = gauge;
  if (issued.ios === 0) return {};
  const notes: Gauge['notes'] = { 1: cacheNote(gauge, input), 3: 'not counted' };
  if (reached && pastCache) {
    notes[2] = filesystemNote(input) || blockNote(pastCache, reached, issued);
  }
  if (reached) {
    notes[3] = foreign ? `plus ${text(bytes(foreign.bytes))} of ${foreign.source} I/O` : '';
  }
  return notes;
}

const ratio = (n: number) => n.toLocaleString('en-US', { maximumSignificantDigits: 2 });

function cacheNote({ bypassed, pastCache, issued }: Gauge, input: GaugeInput): string {
  if (bypassed) return 'bypassed';
  if (!pastCache) return '';
  const isWrite = input.write.bytes > input.read.bytes;
  const waiting_bytes = input.waiting_bytes ?? 0;
  if (isWrite && waiting_bytes > input.write.bytes * NEGLIGIBLE) {
    return `${text(bytes(waiting_bytes))} still in memory, not yet written`;
  }
  const ios = pastCache.ios / issued.ios;
  const share = pastCache.bytes / issued.bytes;
  if (share < NEGLIGIBLE) return isWrite ? 'in memory, not yet written' : 'served from memory';
  if (ios < share / 2) {
    const perIo = ratio(share / ios);
    return isWrite ? `merged: ${perIo} writes per I/O` : `readahead: ${perIo} reads per I/O`;
  }
  if (share > AMPLIFIED) return `${ratio(share)} × the issued bytes`;
  const percent = Math.round((1 - share) * 100);
  return percent < 1 ? '' : `${percent} % ${isWrite ? 'still in memory' : 'served from memory'}`;
}

/** Of I/O that the filesystem served without the device, according to the verdict. */
function filesystemNote(input: GaugeInput): string {
  if (shareOf(input, 'unwritten') > MIN_SERVED) return 'served here as zeros: never written';
  if (shareOf(input, 'filesystem') > MIN_SERVED) return 'served here: compressed or inline data';
  return '';
}

function blockNote(pastCache: LayerFlow, reached: LayerFlow, issued: LayerFlow): string {
  if (pastCache.ios === 0) return '';
  if (reached.bytes < issued.bytes * NEGLIGIBLE && pastCache.bytes > issued.bytes / 2) {
    return 'served here: holes or blocks never written';
  }
  const growth = Math.max(
    reached.ios / pastCache.ios,
    reached.bytes / Math.max(1, pastCache.bytes),
  );
  if (growth > AMPLIFIED) return `journal, metadata or foreign I/O: ${ratio(growth)} ×`;
  if (pastCache.bytes < issued.bytes * NEGLIGIBLE || reached.ios >= pastCache.ios * 0.9) return '';
  return `merged: ${ratio(pastCache.ios / Math.max(1, reached.ios))} per I/O`;
}
