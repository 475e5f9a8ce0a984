// Counters before and after a run, with all digits, so that they can be compared with command
// output.
import type { Proof } from '../../api';
import { bytes, count, text } from '../format/numbers';

export interface ProofRow {
  before: string;
  after: string;
  difference: string;
  /** The difference in KiB or a larger unit; empty for counters that are not in bytes. */
  short: string;
}

export function proofRow({ before, after, difference, unit }: Proof): ProofRow {
  const sign = difference > 0 ? '+' : difference < 0 ? '−' : '';
  const size = Math.abs(difference);
  return {
    before: count(before),
    after: count(after),
    difference: `${sign}${count(size)}`,
    short: unit === 'bytes' && size >= 1024 ? `${sign}${text(bytes(size))}` : '',
  };
}
