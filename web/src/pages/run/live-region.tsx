// What a screen reader hears while a run goes on: each status once, and at the end what the run means. Never the figures,
// which change ten times a second.
import type { Run } from '../../api';
import { type Live, useLiveValue } from '../../charts/use-live';
import { isFinal } from '../../model/fold/run-fold';
import { STATUS } from '../../model/run/summary';
import { verdictLines } from '../../model/run/verdict';

/** Words that are heard and not seen. */
export function LiveRegion({ run, live: { fold, chartGroup } }: { run: Run; live: Live }) {
  const status = useLiveValue(chartGroup, () => fold.status);
  const outcome = useLiveValue(chartGroup, () => fold.result);
  const meaning = isFinal(status) ? verdictLines(outcome?.verdict ?? run.verdict) : [];
  return (
    <p role="status" className="hidden">
      {[
        `Run #${run.number}: ${STATUS[status].label}.`,
        ...meaning.map(({ sentence }) => sentence),
      ].join(' ')}
    </p>
  );
}
