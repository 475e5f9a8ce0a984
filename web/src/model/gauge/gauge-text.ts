// The depth gauge as a sentence, for runs without a verdict and for screen readers.
import { bytes, count, share, text } from '../format/numbers';
import type { Gauge } from './types';

/** Null before the first I/O. */
export function gaugeText(
  { issued, reached, foreign }: Gauge,
  device: string | null,
): string | null {
  if (issued.ios === 0) return null;
  const start = `${count(issued.ios)} I/Os issued`;
  if (!reached) return `${start}; device I/O was not counted.`;
  const percent = share(reached.bytes / issued.bytes);
  const served = `${start}; ${device ?? 'the device'} served ${count(reached.ios)} (${percent} of the bytes).`;
  if (!foreign) return served;
  return `${served} It also moved ${text(bytes(foreign.bytes))} of ${foreign.source} I/O.`;
}
