// Metrics with their change relative to the baseline. A change has no color: a single run cannot
// show whether it is real.
import type { ComparedMetric, Comparison } from '../../api';
import { Legend } from '../../charts/legend';
import { changeText, countDirections, metricName, valueText } from '../../model/compare/metrics';
import { lineStyle } from '../../model/series/line-style';
import { MaybeLowerBound } from '../../ui/lower-bound';
import { NamedRows } from '../../ui/named-rows';

export function MetricsTable({ comparison: { metrics, runs } }: { comparison: Comparison }) {
  const directions = countDirections(metrics);
  const heads = runs.map(({ run }, index) => (
    <Legend key={run.number} entries={[{ label: `#${run.number}`, ...lineStyle(index) }]} />
  ));
  const rows = metrics.map((metric) => ({
    key: metric.name,
    name: <MetricName name={metricName(metric, directions)} better={metric.better} />,
    cells: metric.values.map((_, index) => (
      <>
        <MaybeLowerBound
          text={valueText(metric, index)}
          isLowerBound={metric.at_least[index] ?? false}
        />{' '}
        <span className="change">{changeText(metric, index)}</span>
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
