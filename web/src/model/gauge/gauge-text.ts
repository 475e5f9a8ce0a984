// Describes the depth gauge in a sentence, for runs without a verdict and for screen readers.
import type { ForeignSource, Gauge } from '../../api';
import { bytes, count, share, text } from '../format/numbers';

const SOURCES: Record<ForeignSource, string> = {
  other_programs: 'other programs',
  other_programs_or_filesystem: 'other programs or the filesystem',
};

/** Null before the first I/O. */
export function gaugeText({ issued, reached, foreign }: Gauge, device: string | null) {
  if (issued.ios === 0) return null;
  const start = `${count(issued.ios)} I/Os issued`;
  if (!reached) return `${start}; device I/O was not counted.`;
  const percent = share(reached.bytes / issued.bytes);
  const served = `${start}; ${device ?? 'the device'} served ${count(reached.ios)} (${percent} of the bytes).`;
  if (!foreign) return served;
  const size = text(bytes(foreign.bytes));
  return `${served} It also transferred ${size} for ${SOURCES[foreign.source]}.`;
}
