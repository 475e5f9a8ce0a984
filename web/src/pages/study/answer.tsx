// Summary sentences for a repeated study, from the runs that have finished so far.
import { useQuery } from '@tanstack/react-query';
import type { Comparison, Study } from '../../api';
import { compareQuery, compareRunsQuery } from '../../api/queries';
import { MIN_RUNS } from '../../model/compare/metrics';
import { parametersOf, studySearch } from '../../model/compare/selection';
import { comparableRuns, countSteps, hasGroups } from '../../model/study/rows';
import { Notice } from '../../ui/parts';

/** Compares the steps as groups if they are repeated, otherwise their runs. */
export function useStudyComparison(study: Study): Comparison | undefined {
  const isRepeated = hasGroups(study);
  const runs = comparableRuns(study);
  const groups = parametersOf(studySearch(study.number, countSteps(study)));
  const query = isRepeated && groups ? compareQuery(groups) : compareRunsQuery(runs);
  // Every finished run changes the group results.
  const { data } = useQuery({
    ...query,
    queryKey: [...query.queryKey, study.steps_ended] as unknown as typeof query.queryKey,
    enabled: isRepeated ? study.steps_ended >= countSteps(study) : runs.length >= MIN_RUNS,
    placeholderData: (old) => old,
  });
  return data;
}

export function StudyAnswer({ comparison: { answers } }: { comparison: Comparison }) {
  const [first, ...others] = answers;
  return (
    <Notice
      title={first}
      detail={[...new Set(others)].map((answer) => <p key={answer}>{answer}</p>)}
    />
  );
}
