// Shows each run in each group as a dot, with the median. Dots with equal values are stacked.
import type { ComparedMetric, Comparison } from '../api';
import { formatValue, includedRuns } from '../model/compare/metrics';
import { lineStyle } from '../model/series/line-style';
import './charts.css';

const WIDTH = 320;
const HEIGHT = 26;
/** Distance from the outermost dots to the edge of the plot. */
const MARGIN = 8;
const DOT = 3.5;

interface StripPlotProps {
  comparison: Comparison;
  metric: ComparedMetric;
  title: string;
}

export function StripPlot({ comparison, metric, title }: StripPlotProps) {
  const known = comparison.groups
    .flatMap((_, group) => includedRuns(comparison, group))
    .flatMap((run) => metric.values[run] ?? []);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const x = (value: number) =>
    most > least ? MARGIN + ((value - least) / (most - least)) * (WIDTH - 2 * MARGIN) : WIDTH / 2;
  return (
    <figure className="strip-plot">
      <figcaption>{title}</figcaption>
      {comparison.groups.map(({ label }, group) => (
        <Strip
          key={label}
          label={label}
          color={lineStyle(group).color}
          x={x}
          runs={includedRuns(comparison, group).flatMap((run) => {
            const value = metric.values[run];
            const number = comparison.runs[run]?.run.number;
            return value == null
              ? []
              : [{ value, text: `#${number} ${formatValue(value, metric.unit)}` }];
          })}
          median={metric.groups[group]?.median ?? null}
        />
      ))}
      <span className="forest-axis mute">
        <span>{formatValue(least, metric.unit)}</span>
        <span>{formatValue(most, metric.unit)}</span>
      </span>
    </figure>
  );
}

interface StripProps {
  label: string;
  color: string;
  x: (value: number) => number;
  runs: readonly { value: number; text: string }[];
  median: number | null;
}

function Strip({ label, color, x, runs, median }: StripProps) {
  return (
    <div className="strip">
      <span className="breaks">{label}</span>
      <svg
        role="img"
        aria-label={`${label}: ${runs.map(({ text }) => text).join(', ')}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      >
        <path className="zero" d={`M0 ${HEIGHT / 2}H${WIDTH}`} />
        {runs.map(({ value, text }, index) => (
          <circle
            key={text}
            cx={x(value)}
            cy={HEIGHT / 2 + ((index % 3) - 1) * DOT}
            r={DOT}
            fill={`var(--${color})`}
            fillOpacity={0.65}
          >
            <title>{text}</title>
          </circle>
        ))}
        {median !== null && runs.length > 1 && (
          <path className="median" d={`M${x(median)} 2V${HEIGHT - 2}`} />
        )}
      </svg>
    </div>
  );
}
