// The depth gauges side by side, each under the name of its run.
import { Link } from '@tanstack/react-router';
import type { ComparedRun, Comparison } from '../../api';
import { DepthGauge } from '../../charts/gauge';
import { Legend } from '../../charts/legend';
import { verdictLabel } from '../../model/compare/metrics';
import { gaugeOfCompared } from '../../model/gauge/gauge';
import { runTitle } from '../../model/run/summary';
import { gaugeText } from '../../model/run/verdict';
import { lineStyle } from '../../model/series/line-style';
import { Badge } from '../../ui/parts';

interface GaugesProps {
  comparison: Comparison;
  onRemove: (run: number) => void;
  onBaseline: (run: number) => void;
}

/** One gauge a run. */
export function Gauges({ comparison: { runs, baseline }, onRemove, onBaseline }: GaugesProps) {
  return (
    <section
      className={`gauges ${runs.length > 3 ? 'many' : ''}`}
      aria-label="Depth gauges"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
      tabIndex={0}
    >
      {runs.map((compared, place) => (
        <GaugeOfRun
          key={compared.run.number}
          compared={compared}
          place={place}
          isBaseline={compared.run.number === baseline}
          {...{ onRemove, onBaseline }}
        />
      ))}
    </section>
  );
}

function GaugeOfRun({
  compared,
  place,
  isBaseline,
  onRemove,
  onBaseline,
}: { compared: ComparedRun; place: number; isBaseline: boolean } & Omit<
  GaugesProps,
  'comparison'
>) {
  const { run } = compared;
  const gauge = gaugeOfCompared(compared);
  const answered = verdictLabel(compared);
  return (
    <section className="card">
      <div className="row tight" style={{ flexWrap: 'nowrap', marginBottom: 6 }}>
        <Legend entries={[{ label: '', ...lineStyle(place) }]} />
        <Link
          to="/runs/$n"
          params={{ n: String(run.number) }}
          className="clip"
          title={runTitle(run)}
          style={{ fontWeight: 600 }}
        >
          #{run.number} {runTitle(run)}
        </Link>
      </div>
      <div className="row tight" style={{ marginBottom: 8, flexWrap: 'nowrap' }}>
        {isBaseline ? (
          <Badge>baseline</Badge>
        ) : (
          <button type="button" className="chip" onClick={() => onBaseline(run.number)}>
            make baseline
          </button>
        )}
        {answered && <span className="mute small clip">{answered}</span>}
        <button
          type="button"
          className="chip push no-print"
          aria-label={`Take #${run.number} out`}
          onClick={() => onRemove(run.number)}
        >
          ×
        </button>
      </div>
      <DepthGauge
        gauge={gauge}
        words={gaugeText(gauge, compared.device?.name ?? null) ?? 'Nothing was issued.'}
      />
    </section>
  );
}
