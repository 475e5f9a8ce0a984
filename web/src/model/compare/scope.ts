// Which runs a comparison covers, and whether different layers served them.
import type { Comparison } from '../../api';
import { badgeOf, listVerdicts } from '../run/verdict';
import { includedRuns } from './metrics';

type Scope = Pick<Comparison, 'groups' | 'runs' | 'baseline'>;

/**
 * Indices of the runs whose settings, host facts and layers are compared: the included runs of the
 * groups that are comparable with the baseline, or of all groups if none is.
 */
export function comparedRuns({ groups, runs, baseline }: Scope): number[] {
  const isComparable = (group: number) => !groups[group]?.obstacle;
  const hasComparable = groups.some((_, group) => group !== baseline && isComparable(group));
  return groups.flatMap((_, group) =>
    !hasComparable || isComparable(group) ? includedRuns({ groups, runs }, group) : [],
  );
}

/** Returns true if different layers served the compared runs. Unknown layers are ignored. */
export function hasDifferentLayers(comparison: Scope): boolean {
  const layers = { read: new Set(), write: new Set() };
  for (const index of comparedRuns(comparison))
    for (const { direction, verdict } of listVerdicts(comparison.runs[index]?.verdict)) {
      const { layer } = badgeOf(verdict.class);
      if (layer) layers[direction].add(layer);
    }
  return layers.read.size > 1 || layers.write.size > 1;
}
