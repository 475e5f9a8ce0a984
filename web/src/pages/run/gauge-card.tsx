// The depth gauge of the run: of what was counted so far, or of the report.
import type { Residency, Run } from '../../api';
import { DepthGauge } from '../../charts/gauge';
import type { RunFold } from '../../model/fold';
import { type Gauge, gaugeOf, gaugeOfReport } from '../../model/gauge';
import { gaugeInWords } from '../../model/verdict';
import { Card } from '../../ui/parts';
import { type Live, useTick } from './use-live';

/** The gauge as it stands. */
export function gaugeNow(run: Run, fold: RunFold): Gauge {
  const jobs = fold.accepted?.jobs ?? run.resolved ?? [];
  const direct = jobs.length > 0 ? jobs.every((job) => job.direct) : run.direct;
  const mode = jobs[0]?.mode ?? run.mode ?? null;
  if (fold.outcome) return gaugeOfReport(fold.outcome.report, { direct, mode, verdicts: fold.outcome.verdict });
  return gaugeOf({ ...fold.totals, direct, mode, waiting_bytes: waitingBytes(fold.totals.residency?.end) });
}

/** What of the targets has yet to be written; null where only mincore(2) could be asked. */
function waitingBytes(residency: Residency | undefined): number | null {
  const { dirty, writeback } = residency ?? {};
  return dirty === null || dirty === undefined ? null : dirty + (writeback ?? 0);
}

/** The card with the gauge. */
export function GaugeCard({ run, live: { fold, stage } }: { run: Run; live: Live }) {
  useTick(stage);
  const gauge = gaugeNow(run, fold);
  const device = fold.outcome?.report.device?.name ?? run.device ?? null;
  const absent = fold.accepted?.absent.device ?? fold.outcome?.report.absent.device;
  return (
    <Card title="Depth gauge" aside={device && <span className="mute small">{device}</span>}>
      <DepthGauge gauge={gauge} words={gaugeInWords(gauge, device) ?? 'Nothing was issued yet.'} />
      {absent && !gauge.reached && <p className="mute small" style={{ marginTop: 8 }}>{`Not counted: ${absent}`}</p>}
    </Card>
  );
}
