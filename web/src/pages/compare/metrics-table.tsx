// Metrics of all groups and their changes from the baseline. Only verdicts are colored: a change
// alone does not show whether it is real.
import type { Change, ComparedMetric, Comparison } from '../../api';
import { ForestAxis, ForestRow } from '../../charts/forest-mark';
import { Legend } from '../../charts/legend';
import { type ForestScale, forestScale } from '../../model/compare/forest';
import {
  additionalRunsText,
  areSingleRuns,
  changeText,
  countDirections,
  formatChange,
  formatValue,
  intervalText,
  METRIC_GROUPS,
  metricGroup,
  metricName,
  runsOfGroup,
  VERDICTS,
  valueOfGroup,
} from '../../model/compare/metrics';
import { partialValue } from '../../model/compare/partial';
import { lineStyle } from '../../model/series/line-style';
import { Hint } from '../../ui/hint';
import { MaybeLowerBound } from '../../ui/lower-bound';
import { NamedRows } from '../../ui/named-rows';

interface MetricsTableProps {
  comparison: Comparison;
  /** The group whose changes are drawn as a forest plot. */
  shown: number;
}

/** If there are more groups, columns are narrower. */
const FEW_GROUPS = 6;

export function MetricsTable({ comparison, shown }: MetricsTableProps) {
  const { groups, metrics } = comparison;
  const directions = countDirections(metrics);
  const isSingle = areSingleRuns(comparison);
  const scale = forestScale(comparison, shown);
  const headers = groups.map(({ label }, index) => (
    <Legend key={label} entries={[{ label, ...lineStyle(index) }]} />
  ));
  const rowOf = (metric: ComparedMetric) => ({
    key: metric.name,
    name: (
      <MetricName
        name={metricName(metric, directions)}
        better={metric.better}
        threshold={
          metric.threshold_percent === comparison.threshold_percent
            ? null
            : metric.threshold_percent
        }
      />
    ),
    cells: [
      ...groups.map(({ label }, group) => (
        <Value key={label} {...{ comparison, metric, group, directions }} withChange={isSingle} />
      )),
      ...(isSingle
        ? []
        : changeCells(metric.changes[shown] ?? null, {
            ...scale,
            threshold: metric.threshold_percent,
          })),
    ],
  });
  const sections = METRIC_GROUPS.map((heading, index) => ({
    heading,
    className: index === 0 ? 'primary' : undefined,
    rows: metrics.filter(({ name }) => metricGroup(name) === heading).map(rowOf),
  }));
  const changeHeaders = isSingle
    ? []
    : ['Change', 'Verdict', <ForestAxis key="axis" scale={scale} />];
  return (
    <>
      <NamedRows
        className={`metrics ${isSingle ? 'single' : ''} ${groups.length > FEW_GROUPS ? 'many' : ''}`}
        label="Metrics"
        corner="Metric"
        headers={[...headers, ...changeHeaders]}
        rows={[]}
        sections={sections}
      />
      <p className="mute small">{signsText(comparison, directions)}</p>
    </>
  );
}

/** Explains the signs in the table. */
function signsText(comparison: Comparison, directions: number): string {
  const { metrics, runs, threshold_percent } = comparison;
  const hasPartial = metrics.some((metric) =>
    runs.some(({ run }) => partialValue(metric, run, directions) !== null),
  );
  return [
    '↑ higher is better, ↓ lower is better.',
    metrics.some((metric) => metric.threshold_percent !== threshold_percent) &&
      '± smallest change that matters.',
    metrics.some(({ at_least }) => at_least.includes(true)) &&
      '≥ lower bound: I/Os were still in flight at the end.',
    hasPartial && 'Partial values cover only the time until the run ended and are not compared.',
  ]
    .filter(Boolean)
    .join(' ');
}

interface ValueProps {
  comparison: Comparison;
  metric: ComparedMetric;
  group: number;
  /** Number of directions that have metrics. */
  directions: number;
  withChange: boolean;
}

function Value({ comparison, metric, group, directions, withChange }: ValueProps) {
  const runs = runsOfGroup(comparison, group);
  const [only] = runs.length === 1 ? runs.map((run) => comparison.runs[run]) : [];
  const partial = only ? partialValue(metric, only.run, directions) : null;
  if (partial !== null)
    return <span className="mute">{formatValue(partial, metric.unit)} (partial)</span>;
  const { text, isLowerBound } = valueOfGroup(metric, runs, group);
  return (
    <>
      <MaybeLowerBound text={text} isLowerBound={isLowerBound} />
      {withChange && <span className="change"> {changeText(metric, runs, group)}</span>}
    </>
  );
}

function changeCells(change: Change | null, scale: ForestScale) {
  if (!change) return ['', '', ''];
  const { percent, verdict, reason } = change;
  return [
    <span key="change" className="change-interval">
      {formatChange(percent)} <span className="mute small">{intervalText(change)}</span>
    </span>,
    <span key="verdict" className={`verdict ${verdict ?? ''}`}>
      {verdict && reason && <Hint explanation={reason}>{VERDICTS[verdict]}</Hint>}
      {verdict && !reason && VERDICTS[verdict]}
      {change.more && <span className="mute small"> {additionalRunsText(change)}</span>}
    </span>,
    <ForestRow key="plot" scale={scale} change={change} />,
  ];
}

interface MetricNameProps {
  name: string;
  better: ComparedMetric['better'];
  /** This metric's threshold, if it differs from the default. */
  threshold: number | null;
}

function MetricName({ name, better, threshold }: MetricNameProps) {
  return (
    <>
      {name}{' '}
      {better && (
        <span className="mute">
          <span aria-hidden>{better === 'higher' ? '↑' : '↓'}</span>
          <span className="hidden">{better} is better</span>
        </span>
      )}
      {threshold !== null && <span className="mute small"> ±{threshold} %</span>}
    </>
  );
}
