// The comparison on a study's page.
import type { Study } from '../../api';
import { compareQuery, compareRunsQuery } from '../../api/queries';
import { studySearch, toParameters } from '../../model/compare/selection';
import { comparableRuns, countSteps, hasGroups } from '../../model/study/rows';

/** Compares the steps as groups if they are repeated. Otherwise, compares the individual runs. */
export function studyComparisonQuery(study: Study) {
  const groups = toParameters(studySearch(study.number, countSteps(study)));
  const query =
    hasGroups(study) && groups ? compareQuery(groups) : compareRunsQuery(comparableRuns(study));
  // Refetched after every finished run, because each one changes its group's results.
  const queryKey = [...query.queryKey, study.steps_ended] as unknown as typeof query.queryKey;
  return { ...query, queryKey };
}
