// The depth gauge of a run: of its report, or of the counts so far.
import type { Residency, Run } from '../../api';
import type { RunFold } from '../fold/run-fold';
import { gaugeOf } from './gauge';
import { gaugeOfReport } from './report-gauge';
import type { Gauge } from './types';

export function runGauge(run: Run, fold: RunFold): Gauge {
  const jobs = fold.accepted?.jobs ?? run.resolved ?? [];
  const direct = jobs.length > 0 ? jobs.every((job) => job.direct) : run.direct;
  const mode = jobs[0]?.mode ?? run.mode ?? null;
  const { result, totals } = fold;
  if (result) return gaugeOfReport(result.report, { direct, mode, verdicts: result.verdict });
  return gaugeOf({ ...totals, direct, mode, waiting_bytes: waitingBytes(totals.residency) });
}

/** Null if only mincore(2) was available, which does not report dirty pages. */
function waitingBytes(residency: Residency | null): number | null {
  const { dirty, writeback } = residency ?? {};
  return dirty === null || dirty === undefined ? null : dirty + (writeback ?? 0);
}
