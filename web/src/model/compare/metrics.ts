// Metrics of a comparison: names, values, changes, and the runs in the URL. The server
// determines comparability and confidence.
import type { ComparedMetric, Comparison } from '../../api';
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

/** Limits on the number of compared runs. More would be unreadable in one chart. */
export const MIN_RUNS = 2;
export const MAX_RUNS = 8;

/** Parses `runs=1,2,3`; invalid and repeated numbers and those above the limit are ignored. */
export function parseRunNumbers(runs: string | undefined): number[] {
  const numbers = (runs ?? '').split(/[\s,#]+/).map(Number);
  return [...new Set(numbers.filter((n) => Number.isInteger(n) && n > 0))].slice(0, MAX_RUNS);
}

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

/** Smaller changes are rounding errors. */
const MIN_CHANGE_PERCENT = 0.005;
/** Larger changes are shown as a factor. */
const MAX_PERCENT = 300;

/** Relative to the baseline: +2.4 %, −12 %, 9.2 ×. */
export function formatChange(change: number | null): string {
  if (change === null) return '';
  if (change >= MAX_PERCENT) return `${digits(change / 100 + 1)} ×`;
  if (Math.abs(change) < MIN_CHANGE_PERCENT) return '±0 %';
  return `${change > 0 ? '+' : '−'}${digits(Math.abs(change))} %`;
}

/** The value of a run, `≥ 9.50 s` for a lower bound. */
export const valueText = ({ values, unit, at_least }: ComparedMetric, run: number): string =>
  withBound(formatValue(values[run] ?? null, unit), at_least[run] ?? false);

/** The change of a run; empty without one. */
export function changeText({ change_percent, at_least }: ComparedMetric, run: number): string {
  const change = formatChange(change_percent[run] ?? null);
  return change && withBound(change, at_least[run] ?? false);
}

const LABELS: Record<string, string> = {
  iops: 'IOPS',
  bytes_per_second: 'bandwidth',
  lat_mean_ns: 'mean latency',
  lat_p50_ns: 'p50 latency',
  lat_p99_ns: 'p99 latency',
  lat_p999_ns: 'p99.9 latency',
  lat_max_ns: 'max latency',
  intended_lat_p99_ns: 'p99 latency from the intended start',
  cpu_ns_per_io: 'CPU time per I/O',
  achieved_depth: 'achieved depth',
  device_utilization: 'device utilization',
  duration_ms: 'duration',
};

const labelOf = (name: string) => LABELS[name] ?? name.replaceAll('_', ' ');
/** Percentiles (p99) stay lowercase. */
const capitalize = (label: string) =>
  /^p\d/.test(label) ? label : label.charAt(0).toUpperCase() + label.slice(1);
const DIRECTED = /^(device_)?(read|write|trim)_(.*)$/;

/** Includes the direction only if there are several. */
export function metricName({ name }: ComparedMetric, directions: number): string {
  const [, device, direction, metric = ''] = DIRECTED.exec(name) ?? [];
  if (!direction || LABELS[name]) return capitalize(labelOf(name));
  const parts = [device && 'device', (device || directions > 1) && direction, labelOf(metric)];
  return capitalize(parts.filter(Boolean).join(' '));
}

/** Number of directions with metrics. */
export const countDirections = (metrics: readonly ComparedMetric[]): number =>
  new Set(metrics.flatMap(({ name }) => /^(read|write|trim)_/.exec(name)?.[1] ?? [])).size;

/** Null without a verdict. */
export const verdictLabel = ({ run }: Comparison['runs'][number]): string | null =>
  run.verdict_class ? badgeOf(run.verdict_class).label : null;
