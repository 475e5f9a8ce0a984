// Comparison metrics: names, values, changes, and the runs in each group. The server
// determines comparability and verdicts.
import type { Change, ChangeVerdict, ComparedMetric, ComparedRun, Comparison } from '../../api';
import {
  digits,
  type Figure,
  latency,
  percent,
  rate,
  shortCount,
  text,
  UNKNOWN,
} from '../format/numbers';
import { duration } from '../format/time';
import { withBound } from '../run/reported-latency';
import { badgeOf } from '../run/verdict';

const FORMATS: Record<string, (n: number) => Figure> = {
  '1/s': shortCount,
  'bytes/s': rate,
  ns: latency,
  '%': percent,
  ms: (n) => ({ value: duration(Math.round(n)), unit: '' }),
};

export function formatValue(value: number | null, unit: string): string {
  if (value === null) return UNKNOWN;
  const format = FORMATS[unit];
  return format ? text(format(value)) : digits(value);
}

/** Smaller changes are rounding errors and are shown as no change. */
const MIN_CHANGE_PERCENT = 0.005;
/** Changes above this percentage are shown as a factor. */
const MAX_PERCENT = 300;

/** Relative to the baseline: +2.40 %, −12.5 %, −99.97 %, 9.20 ×. */
export function formatChange(change: number | null): string {
  if (change === null) return '';
  if (change >= MAX_PERCENT) return `${digits(change / 100 + 1)} ×`;
  if (Math.abs(change) < MIN_CHANGE_PERCENT) return '±0 %';
  // Rounds down, because −100 % would imply a value of zero.
  if (change > -100 && change <= -99.95)
    return `−${(Math.floor(-change * 100) / 100).toFixed(2)} %`;
  return `${change > 0 ? '+' : '−'}${digits(Math.abs(change))} %`;
}

/** Returns true if each group is a single run. */
export const areSingleRuns = ({ groups }: Pick<Comparison, 'groups'>): boolean =>
  groups.every(({ runs }) => runs.length === 1);

/** Indices of all runs in a group. */
export const runsOfGroup = ({ runs }: Pick<Comparison, 'runs'>, group: number): number[] =>
  runs.flatMap((run, index) => (run.group === group ? [index] : []));

/** Indices of the runs in a group that are included in the statistics. */
export const includedRuns = (
  comparison: Pick<Comparison, 'groups' | 'runs'>,
  group: number,
): number[] =>
  runsOfGroup(comparison, group).filter(
    (_, index) => !comparison.groups[group]?.excluded.includes(index),
  );

/** A run's value, or the median of a group. It is a lower bound if any of the values is one. */
export function valueOfGroup(metric: ComparedMetric, runs: readonly number[], group: number) {
  const [only] = runs;
  const isLowerBound = runs.some((run) => metric.at_least[run]);
  const value = runs.length === 1 && only !== undefined ? metric.values[only] : undefined;
  const text = formatValue(value ?? metric.groups[group]?.median ?? null, metric.unit);
  return { text: withBound(text, isLowerBound), isLowerBound };
}

/** A group's change as text, or empty if there is none. */
export function changeText(metric: ComparedMetric, runs: readonly number[], group: number): string {
  const change = formatChange(metric.changes[group]?.percent ?? null);
  return (
    change &&
    withBound(
      change,
      runs.some((run) => metric.at_least[run]),
    )
  );
}

/** `−5.50 to −2.80 %`, or `−5.50 % to 6.10 ×`; empty if there is no interval. */
export function intervalText({
  interval_percent: interval,
}: Pick<Change, 'interval_percent'>): string {
  if (!interval) return '';
  const [low, high] = [formatChange(interval.low), formatChange(interval.high)];
  return `${high.endsWith('%') ? low.replace(/\s%$/, '') : low} to ${high}`;
}

/** `≈ 9 more pairs, 4 min`; empty if there is no estimate. */
export function additionalRunsText({ more, paired }: Change): string {
  if (!more) return '';
  const unit = paired ? 'pair' : 'run per group';
  const units = paired ? 'pairs' : 'runs per group';
  const time = more.duration_ms > 0 ? `, ${duration(Math.round(more.duration_ms))}` : '';
  return `≈ ${more.repeats} more ${more.repeats === 1 ? unit : units}${time}`;
}

export const VERDICTS: Record<ChangeVerdict, string> = {
  better: 'Better',
  worse: 'Worse',
  equivalent: 'Equivalent',
  undecided: 'Undecided',
  not_comparable: 'Not comparable',
};

/**
 * Returns the complete run whose IOPS are closest to the group's median, or the first run if none
 * is complete.
 */
export function representativeRun(comparison: Comparison, group: number): ComparedRun | undefined {
  const iops = comparison.metrics.find(({ name }) => name.endsWith('_iops'));
  const median = iops?.groups[group]?.median ?? 0;
  const distance = (run: number) => Math.abs((iops?.values[run] ?? Number.MAX_VALUE) - median);
  const included = includedRuns(comparison, group);
  const runs = included.length > 0 ? included : runsOfGroup(comparison, group);
  const [closest] = runs.toSorted((a, b) => distance(a) - distance(b));
  return closest === undefined ? undefined : comparison.runs[closest];
}

/**
 * The names from `protocol/src/metrics.rs` without the direction. A test compares the two lists.
 */
const LABELS: Record<string, string> = {
  iops: 'IOPS',
  bytes_per_second: 'bandwidth',
  lat_mean_ns: 'mean latency',
  lat_p50_ns: 'p50 latency',
  lat_p99_ns: 'p99 latency',
  lat_p999_ns: 'p99.9 latency',
  lat_p9999_ns: 'p99.99 latency',
  lat_max_ns: 'max latency',
  intended_lat_p99_ns: 'p99 latency from the intended start',
  cpu_ns_per_io: 'CPU time per I/O',
  sync_lat_mean_ns: 'Sync mean latency',
  sync_lat_p99_ns: 'Sync p99 latency',
  device_ios_per_io: 'Device I/Os per I/O',
  achieved_depth: 'achieved depth',
  device_utilization: 'device utilization',
  duration_ms: 'measured time',
};

const labelOf = (name: string) => LABELS[name] ?? name.replaceAll('_', ' ');
/** Percentile names such as p99 stay lowercase. */
const capitalize = (label: string) =>
  /^p\d/.test(label) ? label : label.charAt(0).toUpperCase() + label.slice(1);
const DIRECTED = /^(device_)?(read|write|trim)_(.*)$/;

/** Includes the direction only if the comparison has more than one. */
export const metricName = ({ name }: ComparedMetric, directions: number): string =>
  metricLabel(name, directions);

export function metricLabel(name: string, directions: number): string {
  const [, device, direction, metric = ''] = DIRECTED.exec(name) ?? [];
  if (!direction || LABELS[name]) return capitalize(labelOf(name));
  const parts = [device && 'device', (device || directions > 1) && direction, labelOf(metric)];
  return capitalize(parts.filter(Boolean).join(' '));
}

/** Number of directions that have metrics. */
export const countDirections = (metrics: readonly Pick<ComparedMetric, 'name'>[]): number =>
  new Set(metrics.flatMap(({ name }) => /^(read|write|trim)_/.exec(name)?.[1] ?? [])).size;

/** Null if there is no verdict. */
export const verdictLabel = ({ run }: Comparison['runs'][number]): string | null =>
  run.verdict_class ? badgeOf(run.verdict_class).label : null;

/** Metric groups, in table order. */
export const METRIC_GROUPS = ['Throughput', 'Latency', 'Device', 'Other'] as const;
type MetricGroup = (typeof METRIC_GROUPS)[number];

export function metricGroup(name: string): MetricGroup {
  if (name.startsWith('device_')) return 'Device';
  if (/(^|_)lat_/.test(name)) return 'Latency';
  return /(^|_)(iops|bytes_per_second)$/.test(name) ? 'Throughput' : 'Other';
}
