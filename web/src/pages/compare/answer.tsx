// Summary of a comparison: whether the groups are comparable, each group's result in one sentence,
// and the recommended next step.
import type { ComparabilityLevel, Comparison } from '../../api';
import { answerContent } from '../../charts/answer-content';
import { hasDirectRun } from '../../model/compare/direct-run';
import { areSingleRuns } from '../../model/compare/metrics';
import { hasDifferentLayers } from '../../model/compare/scope';
import { Notice, type Tone } from '../../ui/parts';
import { RepeatButtons } from './repeat';
import { RerunButton } from './rerun';

const LEVELS: Record<ComparabilityLevel, { badge: string; tone: Tone }> = {
  comparable: { badge: 'Same test', tone: 'device' },
  with_differences: { badge: 'Differences', tone: 'cache' },
  not_comparable: { badge: 'Not comparable', tone: 'bad' },
};

/** Groups served by different layers measure different things, so this fact precedes the answer. */
export function Answer({ comparison }: { comparison: Comparison }) {
  const isComparable = comparison.comparability.level !== 'not_comparable';
  const isLayerFirst = hasDifferentLayers(comparison);
  const canRepeat = areSingleRuns(comparison);
  const hasBetterStep = isLayerFirst || Boolean(comparison.comparability.rerun);
  const { title, detail } = answerContent(comparison);
  return (
    <>
      {isLayerFirst && <ComparabilityNotice comparison={comparison} />}
      {isComparable && (
        <Notice
          title={title}
          detail={detail}
          actions={canRepeat && <RepeatButtons runs={comparison.runs} isPrimary={!hasBetterStep} />}
        />
      )}
      {!isLayerFirst && <ComparabilityNotice comparison={comparison} />}
    </>
  );
}

function ComparabilityNotice({ comparison }: { comparison: Comparison }) {
  const { level, sentence, reasons, rerun } = comparison.comparability;
  const { badge, tone } = LEVELS[level];
  return (
    <Notice
      tone={tone}
      badge={badge}
      title={sentence}
      detail={reasons.map((line) => <p key={line}>{line}</p>)}
      actions={rerun && !hasDirectRun(comparison, rerun.run) && <RerunButton rerun={rerun} />}
    />
  );
}
