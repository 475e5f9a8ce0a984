// The comparison that the page of a study shows.
import type { Study } from '../../api';
import { compareQuery, compareRunsQuery } from '../../api/queries';
import { parametersOf, studySearch } from '../../model/compare/selection';
import { comparableRuns, countSteps, hasGroups } from '../../model/study/rows';

/** Compares the steps as groups if they are repeated, otherwise their runs. */
export function studyComparisonQuery(study: Study) {
  const groups = parametersOf(studySearch(study.number, countSteps(study)));
  const query =
    hasGroups(study) && groups ? compareQuery(groups) : compareRunsQuery(comparableRuns(study));
  // Every finished run changes the group results.
  const queryKey = [...query.queryKey, study.steps_ended] as unknown as typeof query.queryKey;
  return { ...query, queryKey };
}
