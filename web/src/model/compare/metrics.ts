// A comparison ready to be shown: what its numbers are called, how they and their changes are written, and which runs an
// address asks for. What is comparable and how sure it is, says the server.
import type { ComparedMetric, Comparison } from '../../api';
import {
  digits,
  duration,
  type Figure,
  latency,
  percent,
  rate,
  shortCount,
  text,
  UNKNOWN,
} from '../format/numbers';
import { badgeOf } from '../run/verdict';
import { type Buckets, mergeBuckets } from '../series/histogram';

/** The fewest and the most runs of one comparison: fewer are none, more are no picture. */
export const MIN_RUNS = 2;
export const MAX_RUNS = 8;

/** The numbers in `runs=1,2,3`; what is no number of a run is left out, the first eight count. */
export function parseRunNumbers(runs: string | undefined): number[] {
  const numbers = (runs ?? '').split(/[\s,#]+/).map(Number);
  return [...new Set(numbers.filter((n) => Number.isInteger(n) && n > 0))].slice(0, MAX_RUNS);
}

const FIGURES: Record<string, (n: number) => Figure> = {
  '1/s': shortCount,
  'bytes/s': rate,
  ns: latency,
  '%': percent,
  ms: (n) => ({ value: duration(Math.round(n)), unit: '' }),
};

/** One value of a metric with its unit. */
export function formatValue(value: number | null, unit: string): string {
  if (value === null) return UNKNOWN;
  const figure = FIGURES[unit];
  return figure ? text(figure(value)) : digits(value);
}

/** Changes below this are rounding. */
const SAME_PERCENT = 0.005;
/** Above this a factor is read more easily than a percentage. */
const AS_FACTOR_PERCENT = 300;

/** A change against the baseline: +2.4 %, −12 %, 9.2 ×. */
export function formatChange(change: number | null): string {
  if (change === null) return '';
  if (change >= AS_FACTOR_PERCENT) return `${digits(change / 100 + 1)} ×`;
  if (Math.abs(change) < SAME_PERCENT) return '±0 %';
  const sign = change > 0 ? '+' : '−';
  return `${sign}${digits(Math.abs(change))} %`;
}

const WORDS: Record<string, string> = {
  iops: 'IOPS',
  bytes_per_second: 'bandwidth',
  lat_mean_ns: 'mean latency',
  lat_p50_ns: 'p50 latency',
  lat_p99_ns: 'p99 latency',
  lat_p999_ns: 'p99.9 latency',
  lat_max_ns: 'longest latency',
  intended_lat_p99_ns: 'p99 latency from the intended start',
  cpu_ns_per_io: 'CPU time per I/O',
  achieved_depth: 'achieved depth',
  device_utilization: 'device busy',
  duration_ms: 'measured for',
};

/** What a metric is called; the direction is named only when there are several. */
export function metricName({ name }: ComparedMetric, directions: number): string {
  const whole = WORDS[name];
  const [, device = '', direction = '', rest = name] =
    /^(device_)?(read|write|trim)_(.*)$/.exec(name) ?? [];
  if (whole || !direction) return whole ?? name.replaceAll('_', ' ');
  const parts = [
    device && 'device',
    (device || directions > 1) && direction,
    WORDS[rest] ?? rest.replaceAll('_', ' '),
  ];
  return parts.filter(Boolean).join(' ');
}

/** How many directions the metrics speak of. */
export const countDirections = (metrics: readonly ComparedMetric[]): number =>
  new Set(metrics.map(({ name }) => /^(read|write|trim)_/.exec(name)?.[1]).filter(Boolean)).size;

/** All latencies of a compared run as one distribution. */
export function bucketsOf({ read, write, trim }: Comparison['runs'][number]): Buckets {
  return [read, write, trim].reduce<Buckets>(
    (sum, direction) => mergeBuckets(sum, direction?.lat_ns.buckets ?? []),
    [],
  );
}

/** Where a compared run was answered, in a word; null when nothing is known. */
export function verdictLabel({ run }: Comparison['runs'][number]): string | null {
  return run.verdict ? badgeOf(run.verdict).label : null;
}
