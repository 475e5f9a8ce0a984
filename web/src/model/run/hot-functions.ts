// Finds the functions with the most samples in a CPU profile. The server draws the flame graph.
import type { Profile } from '../../api';

export interface HotFunction {
  name: string;
  /** Share of samples in which the function itself was executing, from 0 to 1. */
  share: number;
}

/** Returns functions by descending share. `folded`: one stack and its count per line. */
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
