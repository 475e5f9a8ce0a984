import { expect, it } from 'vitest';
import type { Comparison, VerdictClass } from '../../api';
import { comparedRuns, hasDifferentLayers } from './scope';

/** A comparison of groups; each group lists its runs' verdicts. */
function comparisonOf(
  groups: readonly (VerdictClass | null)[][],
  change: Partial<Comparison['groups'][number]>[] = [],
) {
  return {
    baseline: 0,
    groups: groups.map((runs, index) => ({
      runs: runs.map(String),
      excluded: [],
      obstacle: null,
      ...change[index],
    })),
    runs: groups.flatMap((runs, group) =>
      runs.map((name) => ({ group, verdict: name && { read: { class: name }, write: null } })),
    ),
  } as unknown as Comparison;
}

it.each<[string, boolean, (VerdictClass | null)[][]]>([
  ['the device and memory', true, [['device'], ['page_cache']]],
  ['the device in two ways', false, [['device'], ['readahead']]],
  ['one layer and an unknown one', false, [['device'], ['unknown']]],
  ['one layer and one without a verdict', false, [['page_cache'], [null]]],
  ['two layers within a group', true, [['device', 'page_cache'], ['device']]],
])('detects whether layers differ: %s', (_, expected, groups) =>
  expect(hasDifferentLayers(comparisonOf(groups))).toBe(expected),
);

it('ignores excluded runs and groups that are not comparable', () => {
  const runs: VerdictClass[][] = [['device', 'page_cache'], ['device'], ['page_cache']];
  const comparison = comparisonOf(runs, [{ excluded: [1] }, {}, { obstacle: 'No result.' }]);
  expect(comparedRuns(comparison)).toEqual([0, 2]);
  expect(hasDifferentLayers(comparison)).toBe(false);
});

it('compares the runs of all groups if none is comparable with the baseline', () =>
  expect(
    comparedRuns(comparisonOf([['device'], ['device']], [{}, { obstacle: 'Other rw.' }])),
  ).toEqual([0, 1]));
