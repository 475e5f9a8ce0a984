// The depth gauges side by side, each under the name of its run.
import { Link } from '@tanstack/react-router';
import type { ComparedRun, Comparison } from '../../api';
import { DepthGauge } from '../../charts/gauge';
import { Legend } from '../../charts/legend';
import { answeredBy } from '../../model/compare';
import { gaugeOfCompared } from '../../model/gauge';
import { strokeOf } from '../../model/stroke';
import { titleOf } from '../../model/summary';
import { gaugeInWords } from '../../model/verdict';
import { Badge } from '../../ui/parts';

interface GaugesProps {
  comparison: Comparison;
  onRemove: (run: number) => void;
  onBaseline: (run: number) => void;
}

/** One gauge a run. */
export function Gauges({ comparison: { runs, baseline }, onRemove, onBaseline }: GaugesProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={`gauges ${runs.length > 3 ? 'many' : ''}`} aria-label="Depth gauges" tabIndex={0}>
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
}: { compared: ComparedRun; place: number; isBaseline: boolean } & Omit<GaugesProps, 'comparison'>) {
  const { run } = compared;
  const gauge = gaugeOfCompared(compared);
  const answered = answeredBy(compared);
  return (
    <section className="card">
      <div className="row tight" style={{ flexWrap: 'nowrap', marginBottom: 6 }}>
        <Legend entries={[{ label: '', ...strokeOf(place) }]} />
        <Link to="/runs/$n" params={{ n: String(run.number) }} className="clip" title={titleOf(run)} style={{ fontWeight: 600 }}>
          #{run.number} {titleOf(run)}
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
      <DepthGauge gauge={gauge} words={gaugeInWords(gauge, compared.device?.name ?? null) ?? 'Nothing was issued.'} />
    </section>
  );
}
