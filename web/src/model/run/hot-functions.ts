// The functions with the most samples in a CPU profile. The flame graph is drawn by the server.
import type { Profile } from '../../api';

export interface HotFunction {
  name: string;
  /** Share of samples in the function itself, from 0 to 1. */
  share: number;
}

/** Sorted by share, descending. `folded` has one stack and its count per line. */
export function hotFunctions({ folded }: Pick<Profile, 'folded'>, limit: number): HotFunction[] {
  const samples = new Map<string, number>();
  let total = 0;
  for (const line of folded.split('\n')) {
    const [, stack, digits] = /^(.*) (\d+)$/.exec(line.trim()) ?? [];
    if (!stack || !digits) continue;
    const name = stack.slice(stack.lastIndexOf(';') + 1);
    samples.set(name, (samples.get(name) ?? 0) + Number(digits));
    total += Number(digits);
  }
  const descending = [...samples].toSorted(([, a], [, b]) => b - a);
  return descending.slice(0, limit).map(([name, n]) => ({ name, share: n / total }));
}
