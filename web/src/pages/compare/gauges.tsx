// Depth gauges side by side.
import type { ComparedRun, Comparison } from '../../api';
import { DepthGauge } from '../../charts/gauge';
import { Legend } from '../../charts/legend';
import { verdictLabel } from '../../model/compare/metrics';
import { gaugeText } from '../../model/gauge/gauge-text';
import { runTitle } from '../../model/run/summary';
import { lineStyle } from '../../model/series/line-style';
import { Badge, ScrollRegion } from '../../ui/parts';
import { RunLink } from '../../ui/run-links';

interface Actions {
  onRemove: (run: number) => void;
  onBaseline: (run: number) => void;
}

export function Gauges({ comparison, ...actions }: { comparison: Comparison } & Actions) {
  const { runs, baseline } = comparison;
  return (
    <ScrollRegion label="Depth gauges" className={`gauges ${runs.length > 3 ? 'many' : ''}`}>
      {runs.map((compared, index) => (
        <RunGauge
          key={compared.run.number}
          compared={compared}
          index={index}
          isBaseline={compared.run.number === baseline}
          {...actions}
        />
      ))}
    </ScrollRegion>
  );
}

interface RunGaugeProps extends Actions {
  compared: ComparedRun;
  index: number;
  isBaseline: boolean;
}

function RunGauge({ compared, index, isBaseline, onRemove, onBaseline }: RunGaugeProps) {
  const { number } = compared.run;
  const title = runTitle(compared.run);
  const gauge = compared.gauge?.total;
  const verdict = verdictLabel(compared);
  return (
    <section className="card">
      <div className="row tight nowrap gauge-title">
        <Legend entries={[{ label: '', ...lineStyle(index) }]} />
        <RunLink n={number} className="clip" title={title}>
          #{number} {title}
        </RunLink>
      </div>
      <div className="row tight nowrap" style={{ marginBottom: 8 }}>
        {isBaseline ? (
          <Badge>Baseline</Badge>
        ) : (
          <button type="button" className="chip" onClick={() => onBaseline(number)}>
            Set as baseline
          </button>
        )}
        {verdict && <span className="mute small clip">{verdict}</span>}
        <button
          type="button"
          className="chip push no-print"
          aria-label={`Remove #${number}`}
          onClick={() => onRemove(number)}
        >
          ×
        </button>
      </div>
      {gauge ? (
        <DepthGauge
          gauge={gauge}
          description={gaugeText(gauge, compared.device?.name ?? null) ?? 'No I/O was issued.'}
        />
      ) : (
        <p className="mute">Depth gauge not recorded.</p>
      )}
    </section>
  );
}
