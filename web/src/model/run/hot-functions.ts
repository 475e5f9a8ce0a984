// A profile in a few lines: where most samples ended. The picture is the server's; this says the same in a table.
import type { Profile } from '../../api';

/** A function and the share of the samples, from 0 to 1, that were taken while it ran itself. */
export interface HotFunction {
  name: string;
  share: number;
}

/** The functions in which most samples ended, the hottest first; `folded` is one stack a line with its count. */
export function hotFunctions({ folded }: Pick<Profile, 'folded'>, most: number): HotFunction[] {
  const ended = new Map<string, number>();
  let all = 0;
  for (const line of folded.split('\n')) {
    const [, stack, digits] = /^(.*) (\d+)$/.exec(line.trim()) ?? [];
    if (!stack || !digits) continue;
    const name = stack.slice(stack.lastIndexOf(';') + 1);
    ended.set(name, (ended.get(name) ?? 0) + Number(digits));
    all += Number(digits);
  }
  const largestFirst = [...ended].toSorted(([, a], [, b]) => b - a);
  return largestFirst.slice(0, most).map(([name, samples]) => ({ name, share: samples / all }));
}
