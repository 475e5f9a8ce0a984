// Metrics with their change relative to the baseline. A change has no color: a single run cannot
// show whether it is real.
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

export function MetricsTable({ comparison: { metrics, runs } }: { comparison: Comparison }) {
  const directions = countDirections(metrics);
  const heads = runs.map(({ run }, index) => (
    <Legend key={run.number} entries={[{ label: `#${run.number}`, ...lineStyle(index) }]} />
  ));
  const rows = metrics.map((metric) => ({
    key: metric.name,
    name: <MetricName name={metricName(metric, directions)} better={metric.better} />,
    cells: metric.values.map((value, index) => (
      <>
        {formatValue(value ?? null, metric.unit)}{' '}
        <span className="change">{formatChange(metric.change_percent[index] ?? null)}</span>
      </>
    )),
  }));
  return (
    <NamedRows className="metrics" label="Metrics" corner="Metric" heads={heads} rows={rows} />
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
