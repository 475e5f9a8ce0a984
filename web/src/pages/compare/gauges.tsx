// Depth gauges side by side.
import type { ComparedRun, Comparison } from '../../api';
import { DepthGauge } from '../../charts/gauge';
import { Legend } from '../../charts/legend';
import { representativeRun, verdictLabel } from '../../model/compare/metrics';
import { gaugeText } from '../../model/gauge/gauge-text';
import { isImported, partialText, runTitle } from '../../model/run/summary';
import { lineStyle } from '../../model/series/line-style';
import { Badge, ScrollRegion } from '../../ui/parts';
import { RunLink } from '../../ui/run-links';

interface Actions {
  onRemove: (group: number) => void;
  onBaseline: (group: number) => void;
}

export function Gauges({ comparison, ...actions }: { comparison: Comparison } & Actions) {
  const { groups, baseline } = comparison;
  return (
    <ScrollRegion label="Depth gauges" className={`gauges ${groups.length > 3 ? 'many' : ''}`}>
      {groups.map(({ label, runs }, index) => {
        const compared = representativeRun(comparison, index);
        return (
          compared && (
            <RunGauge
              key={label}
              compared={compared}
              title={runs.length > 1 ? label : runTitle(compared.run)}
              runs={runs.length}
              index={index}
              isBaseline={index === baseline}
              {...actions}
            />
          )
        );
      })}
    </ScrollRegion>
  );
}

interface RunGaugeProps extends Actions {
  /**
   * The run whose gauge is shown. For a group, it is the run whose IOPS are closest to the median.
   */
  compared: ComparedRun;
  title: string;
  /** Number of runs in the group. */
  runs: number;
  /** The group's index. */
  index: number;
  isBaseline: boolean;
}

function RunGauge(props: RunGaugeProps) {
  const { compared, title, runs, index, isBaseline, onRemove, onBaseline } = props;
  const { number } = compared.run;
  const gauge = compared.gauge?.total;
  const verdict = verdictLabel(compared);
  const partial = partialText(compared.run);
  return (
    <section className="card">
      <div className="gauge-title">
        <Legend entries={[{ label: '', ...lineStyle(index) }]} />
        <RunLink n={number}>{runs > 1 ? title : `#${number} ${title}`}</RunLink>
        {runs > 1 && (
          <span className="mute small">
            #{number}, one of {runs} runs
          </span>
        )}
      </div>
      <div className="row tight nowrap" style={{ marginBottom: 8 }}>
        {isBaseline ? (
          <Badge>Baseline</Badge>
        ) : (
          <button type="button" className="chip" onClick={() => onBaseline(index)}>
            Set as baseline
          </button>
        )}
        {verdict && <span className="mute small clip">{verdict}</span>}
        <button
          type="button"
          className="chip push no-print"
          aria-label={`Remove ${runs > 1 ? title : `#${number}`}`}
          onClick={() => onRemove(index)}
        >
          ×
        </button>
      </div>
      {partial && <p className="small">{partial}</p>}
      {gauge ? (
        <DepthGauge
          gauge={gauge}
          description={gaugeText(gauge, compared.device?.name ?? null) ?? 'No I/O was issued.'}
        />
      ) : (
        <p className="mute">{absentText(compared)}</p>
      )}
    </section>
  );
}

function absentText({ run, duration_ms }: ComparedRun): string {
  if (isImported(run))
    return "No depth gauge: results in fio's format do not record which layer served the I/O.";
  if (duration_ms == null) return 'No depth gauge: the run has no report.';
  return 'Depth gauge not recorded.';
}
