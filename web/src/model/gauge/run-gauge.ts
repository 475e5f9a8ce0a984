// The depth gauge of a run as it stands: of what was counted so far, or of its report.
import type { Residency, Run } from '../../api';
import type { RunFold } from '../fold/run-fold';
import { type Gauge, gaugeOf, gaugeOfReport } from './gauge';

/** The gauge as it stands. */
export function runGauge(run: Run, fold: RunFold): Gauge {
  const jobs = fold.accepted?.jobs ?? run.resolved ?? [];
  const direct = jobs.length > 0 ? jobs.every((job) => job.direct) : run.direct;
  const mode = jobs[0]?.mode ?? run.mode ?? null;
  if (fold.result)
    return gaugeOfReport(fold.result.report, { direct, mode, verdicts: fold.result.verdict });
  return gaugeOf({
    ...fold.totals,
    direct,
    mode,
    waiting_bytes: waitingBytes(fold.totals.residency),
  });
}

/** What of the targets has yet to be written; null where only mincore(2) could be asked. */
function waitingBytes(residency: Residency | null): number | null {
  const { dirty, writeback } = residency ?? {};
  return dirty === null || dirty === undefined ? null : dirty + (writeback ?? 0);
}
