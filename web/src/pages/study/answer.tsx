// Summary of a repeated study in sentences, based on the runs that have finished so far.
import { useQuery } from '@tanstack/react-query';
import type { Comparison, Study } from '../../api';
import { MIN_RUNS } from '../../model/compare/run-numbers';
import { hasDifferentLayers } from '../../model/compare/scope';
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

/** If different layers served the steps, this fact precedes the answers. */
export function StudyAnswer({ comparison }: { comparison: Comparison }) {
  const { answers, comparability } = comparison;
  const hasLayers = hasDifferentLayers(comparison);
  const [first, ...others] = hasLayers ? [comparability.sentence, ...answers] : answers;
  return (
    <Notice
      tone={hasLayers ? 'cache' : null}
      title={first}
      detail={[...new Set(others)].map((answer) => <p key={answer}>{answer}</p>)}
    />
  );
}
