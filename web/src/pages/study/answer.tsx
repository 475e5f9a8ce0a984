// Summary of a repeated study in sentences, based on the runs that have finished so far.
import { useQuery } from '@tanstack/react-query';
import type { Comparison, Study } from '../../api';
import { answerContent } from '../../charts/answer-content';
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
  const { title, detail } = answerContent(comparison);
  if (!hasDifferentLayers(comparison)) return <Notice title={title} detail={detail} />;
  return (
    <Notice
      tone="cache"
      title={comparison.comparability.sentence}
      detail={
        <>
          <p>{title}</p>
          {detail}
        </>
      }
    />
  );
}
