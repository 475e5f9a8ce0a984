// Shows whether the compared runs are the same test, the reasons if not, and a rerun that would be
// comparable.
import type { Comparison } from '../../api';
import { hasDirectRun } from '../../model/compare/direct-run';
import { Notice } from '../../ui/parts';
import { RerunButton } from './rerun';

export function Comparability({ comparison }: { comparison: Comparison }) {
  const {
    comparable: { same_test, sentence, reasons, rerun },
    confidence,
  } = comparison;
  return (
    <Notice
      tone={same_test ? 'device' : 'bad'}
      badge={same_test ? 'Same test' : 'Different tests'}
      title={sentence}
      detail={[...reasons, same_test && confidence.sentence].map(
        (line) => line && <p key={line}>{line}</p>,
      )}
      actions={rerun && !hasDirectRun(comparison, rerun.run) && <RerunButton rerun={rerun} />}
    />
  );
}
