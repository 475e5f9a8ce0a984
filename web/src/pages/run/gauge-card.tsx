// The depth gauge of the run: of what was counted so far, or of the report.
import type { Run } from '../../api';
import { DepthGauge } from '../../charts/gauge';
import { type Live, useTick } from '../../charts/use-live';
import { runGauge } from '../../model/gauge/run-gauge';
import { gaugeText } from '../../model/run/verdict';
import { Card } from '../../ui/parts';

/** The card with the gauge. */
export function GaugeCard({ run, live: { fold, chartGroup } }: { run: Run; live: Live }) {
  useTick(chartGroup);
  const gauge = runGauge(run, fold);
  const device = fold.result?.report.device?.name ?? run.device ?? null;
  const absent = fold.accepted?.absent.device ?? fold.result?.report.absent.device;
  return (
    <Card title="Depth gauge" aside={device && <span className="mute small">{device}</span>}>
      <DepthGauge gauge={gauge} words={gaugeText(gauge, device) ?? 'Nothing was issued yet.'} />
      {absent && !gauge.reached && (
        <p className="mute small" style={{ marginTop: 8 }}>{`Not counted: ${absent}`}</p>
      )}
    </Card>
  );
}
