// Summary of a repeated study in sentences, based on the runs that have finished so far.
import { useQuery } from '@tanstack/react-query';
import type { Comparison, Study } from '../../api';
import { MIN_RUNS } from '../../model/compare/run-numbers';
import { comparableRuns, countSteps, hasGroups, isSummarized } from '../../model/study/rows';
import { Notice } from '../../ui/parts';
import { useIsSaved } from '../../ui/saved';
import { studyComparisonQuery } from './comparison-query';

/** Undefined for sweeps and procedures, because their pages show no comparison. */
export function useStudyComparison(study: Study): Comparison | undefined {
  const isSaved = useIsSaved();
  const hasResults = hasGroups(study)
    ? study.steps_ended >= countSteps(study)
    : comparableRuns(study).length >= MIN_RUNS;
  const { data } = useQuery({
    ...studyComparisonQuery(study),
    enabled: hasResults && !isSaved && !isSummarized(study),
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
