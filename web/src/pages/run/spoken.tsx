// What a screen reader hears while a run goes on: each status once, and at the end what the run means. Never the figures,
// which change ten times a second.
import type { Run } from '../../api';
import { type Live, useFromStage } from '../../charts/use-live';
import { isFinal } from '../../model/fold';
import { STATUS } from '../../model/summary';
import { verdictLines } from '../../model/verdict';

/** Words that are heard and not seen. */
export function Spoken({ run, live: { fold, stage } }: { run: Run; live: Live }) {
  const status = useFromStage(stage, () => fold.status);
  const outcome = useFromStage(stage, () => fold.outcome);
  const meaning = isFinal(status) ? verdictLines(outcome?.verdict ?? run.verdict) : [];
  return (
    <p role="status" className="hidden">
      {[`Run #${run.number}: ${STATUS[status].word}.`, ...meaning.map(({ sentence }) => sentence)].join(' ')}
    </p>
  );
}
