// The run's depth gauge, live or from the report.
import type { Run } from '../../api';
import { DepthGauge } from '../../charts/gauge';
import { type LiveRun, useTick } from '../../charts/use-live-run';
import { gaugeText } from '../../model/gauge/gauge-text';
import { runGauge } from '../../model/gauge/run-gauge';
import { Card } from '../../ui/parts';
import { SilenceNotice } from './silence-notice';

export function GaugeCard({ run, live }: { run: Run; live: LiveRun }) {
  const { fold, chartGroup } = live;
  useTick(chartGroup);
  const gauge = runGauge(fold);
  const device = fold.result?.report.device?.name ?? run.device ?? null;
  const absent = fold.accepted?.absent.device ?? fold.result?.report.absent.device;
  return (
    <Card title="Depth gauge" aside={device && <span className="mute small">{device}</span>}>
      <SilenceNotice live={live} />
      {gauge ? (
        <DepthGauge gauge={gauge} description={gaugeText(gauge, device) ?? 'No I/O issued yet.'} />
      ) : (
        <p className="mute">Not recorded for this run.</p>
      )}
      {absent && !gauge?.reached && (
        <p className="mute small" style={{ marginTop: 8 }}>
          Device counters unavailable: {absent}
        </p>
      )}
    </Card>
  );
}
