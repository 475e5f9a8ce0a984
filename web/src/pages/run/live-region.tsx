// Screen reader announcements: each status once, and then the verdict. Metrics are not announced,
// because they change ten times a second.
import type { Run } from '../../api';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { isFinal } from '../../model/fold/run-fold';
import { STATUS } from '../../model/run/summary';
import { verdictLines } from '../../model/run/verdict';

export function LiveRegion({ run, live: { fold, chartGroup } }: { run: Run; live: LiveRun }) {
  const status = useLiveValue(chartGroup, () => fold.status);
  const result = useLiveValue(chartGroup, () => fold.result);
  const verdicts = isFinal(status) ? verdictLines(result?.verdict ?? run.verdict) : [];
  const sentences = verdicts.map(({ sentence }) => sentence);
  return (
    <p role="status" className="hidden">
      {[`Run #${run.number}: ${STATUS[status].label}.`, ...sentences].join(' ')}
    </p>
  );
}
