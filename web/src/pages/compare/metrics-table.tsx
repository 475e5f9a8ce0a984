// The numbers, one row each, with their change against the baseline. A change is not coloured: with single runs nobody
// knows whether it is one.
import type { ComparedMetric, Comparison } from '../../api';
import { Legend } from '../../charts/legend';
import {
  countDirections,
  formatChange,
  formatValue,
  metricName,
} from '../../model/compare/metrics';
import { lineStyle } from '../../model/series/line-style';
import { NamedRows } from '../../ui/named-rows';

/** The table. */
export function MetricsTable({ comparison: { metrics, runs } }: { comparison: Comparison }) {
  const directions = countDirections(metrics);
  const heads = runs.map(({ run }, place) => (
    <Legend key={run.number} entries={[{ label: `#${run.number}`, ...lineStyle(place) }]} />
  ));
  const rows = metrics.map((metric) => ({
    key: metric.name,
    name: <MetricName name={metricName(metric, directions)} better={metric.better} />,
    cells: metric.values.map((value, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: values stand in the order of the runs
      <span key={place}>
        {formatValue(value ?? null, metric.unit)}{' '}
        <span className="change">{formatChange(metric.change_percent[place] ?? null)}</span>
      </span>
    )),
  }));
  return (
    <NamedRows className="numbers" label="Numbers" corner="number" heads={heads} rows={rows} />
  );
}

function MetricName({ name, better }: { name: string; better: ComparedMetric['better'] }) {
  return (
    <>
      {name}{' '}
      {better && (
        <span className="mute" title={`${better} is better`}>
          <span aria-hidden>{better === 'higher' ? '↑' : '↓'}</span>
          <span className="hidden">{better} is better</span>
        </span>
      )}
    </>
  );
}
