// Results of a load–latency curve.
import type { LoadCurveResults, LoadPoint, PointClass } from '../../api';
import { formatValue } from '../compare/metrics';
import { count } from '../format/numbers';
import { duration } from '../format/time';

const POINT_CLASSES: Record<PointClass, string> = {
  sustained: 'Sustained',
  overloaded: 'Overloaded',
  uncertain: 'Too short',
  disturbed: 'Disturbed',
  inconsistent: 'Inconsistent',
  missing: 'No result',
};

/** For example `Overloaded, ended after 8 s`, if the run was shorter than planned. */
export const classText = ({ class: name, overload }: LoadPoint): string =>
  overload
    ? `${POINT_CLASSES[name]}, ended after ${duration(overload.after_ms)}`
    : POINT_CLASSES[name];

/** Why a rate is not sustained. */
export function reasonText({
  class: name,
  disturbance,
  overload,
  backlog,
}: LoadPoint): string | undefined {
  // If most runs are disturbed, they are not classified as disturbed; the page shows a warning.
  if (name === 'disturbed')
    return disturbance ?? 'The backlog grew, but not steadily until the end.';
  if (overload) {
    const { period_ms, due, completed, backlog_at_start, backlog_at_end } = overload;
    return `In the last ${duration(period_ms)}, ${count(due)} I/Os were due and ${count(completed)} completed: the backlog grew from ${count(backlog_at_start)} to ${count(backlog_at_end)}.`;
  }
  if (name === 'overloaded')
    return `The backlog grew from ${count(backlog[0])} to ${count(backlog.at(-1))} I/Os.`;
  if (name === 'uncertain') return 'The backlog grew by more than 2 %, but not significantly.';
  return undefined;
}

export type CurveLatency = 'lat_p50_ns' | 'lat_p99_ns' | 'lat_p999_ns';

export const CURVE_LATENCIES: readonly { name: CurveLatency; label: string }[] = [
  { name: 'lat_p50_ns', label: 'p50' },
  { name: 'lat_p99_ns', label: 'p99' },
  { name: 'lat_p999_ns', label: 'p99.9' },
];

type Points = Pick<LoadCurveResults, 'points'>;
interface Coordinates {
  x: number;
  y: number;
}

/** Points in the given classes, sorted by offered rate. */
const ofClass = ({ points }: Points, ...classes: PointClass[]): LoadPoint[] =>
  points.filter((point) => classes.includes(point.class)).toSorted((a, b) => a.offered - b.offered);

/**
 * A latency over achieved IOPS, for sustained rates only. The latencies of other rates are lower
 * bounds or were disturbed.
 */
export const latencyLine = (results: Points, name: CurveLatency): Coordinates[] =>
  ofClass(results, 'sustained').flatMap(({ achieved, [name]: ns }) =>
    achieved == null || ns == null ? [] : [{ x: achieved, y: ns }],
  );

/** Achieved over offered IOPS. */
export const achievedPoints = (results: Points, ...classes: PointClass[]): Coordinates[] =>
  ofClass(results, ...classes).flatMap(({ offered, achieved }) =>
    achieved == null ? [] : [{ x: offered, y: achieved }],
  );

/** Achieved over offered IOPS, for runs that ended early. */
export const earlyPoints = ({ points }: Points): Coordinates[] =>
  points.flatMap(({ offered, achieved, overload }) =>
    overload && achieved != null ? [{ x: offered, y: achieved }] : [],
  );

/** `≥ 4.20 ms` for a lower bound. */
export const latencyText = (point: LoadPoint, name: CurveLatency): string => {
  const text = formatValue(point[name] ?? null, 'ns');
  return point.is_lower_bound && point[name] != null ? `≥ ${text}` : text;
};

export function curveCsv({ points }: Points): string {
  const columns = [
    'offered',
    'achieved',
    'due',
    'lat_mean_ns',
    'lat_p50_ns',
    'lat_p99_ns',
    'lat_p999_ns',
    'is_lower_bound',
    'class',
  ] as const;
  const rows = points.map((point) =>
    [...columns.map((name) => point[name] ?? ''), point.overload?.after_ms ?? ''].join(','),
  );
  return [[...columns, 'ended_early_ms'].join(','), ...rows].join('\n');
}
