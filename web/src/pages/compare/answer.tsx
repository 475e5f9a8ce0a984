// Summary of a comparison: whether the groups are comparable, each group's result in one sentence,
// and the recommended next step.
import type { Comparability, ComparabilityLevel, Comparison } from '../../api';
import { hasDirectRun } from '../../model/compare/direct-run';
import { areSingleRuns } from '../../model/compare/metrics';
import { Notice, type Tone } from '../../ui/parts';
import { RepeatButtons } from './repeat';
import { RerunButton } from './rerun';

const LEVELS: Record<ComparabilityLevel, { badge: string; tone: Tone }> = {
  comparable: { badge: 'Same test', tone: 'device' },
  with_differences: { badge: 'Differences', tone: 'cache' },
  not_comparable: { badge: 'Not comparable', tone: 'bad' },
};

export function Answer({ comparison }: { comparison: Comparison }) {
  const { comparability, answers } = comparison;
  const isComparable = comparability.level !== 'not_comparable';
  return (
    <>
      {isComparable && <Answers answers={answers} comparison={comparison} />}
      <ComparabilityNotice comparison={comparison} comparability={comparability} />
    </>
  );
}

function Answers({ answers, comparison }: { answers: readonly string[]; comparison: Comparison }) {
  const [first, ...others] = answers;
  const canRepeat = areSingleRuns(comparison) && comparison.groups.length === 2;
  return (
    <Notice
      title={first}
      detail={[...new Set(others)].map((answer) => <p key={answer}>{answer}</p>)}
      actions={
        canRepeat && (
          <RepeatButtons runs={comparison.runs} isPrimary={!comparison.comparability.rerun} />
        )
      }
    />
  );
}

interface ComparabilityProps {
  comparison: Comparison;
  comparability: Comparability;
}

function ComparabilityNotice({ comparison, comparability }: ComparabilityProps) {
  const { level, sentence, reasons, rerun } = comparability;
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
