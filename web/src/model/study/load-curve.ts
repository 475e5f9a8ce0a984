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
  if (name === 'inconsistent')
    return 'The number of I/Os that were due, the completed ones, and the backlog do not add up.';
  return undefined;
}

export type CurveLatency = 'lat_p50_ns' | 'lat_p99_ns' | 'lat_p999_ns';

export const CURVE_LATENCIES: readonly { name: CurveLatency; label: string }[] = [
  { name: 'lat_p50_ns', label: 'p50' },
  { name: 'lat_p99_ns', label: 'p99' },
  { name: 'lat_p999_ns', label: 'p99.9' },
];

/** A run at a rate. A rate that was overloaded is repeated. */
export interface RatePoint extends LoadPoint {
  /** Number of the run among the runs at this rate, in the order of the runs. */
  repeat: number;
  /** Number of runs at this rate. */
  repeats: number;
}

/** The points by rate, then in the order of the runs. */
export function byRate({ points }: Points): RatePoint[] {
  const runsAt = (rate: number) => points.filter(({ offered }) => offered === rate);
  return points
    .map((point) => {
      const runs = runsAt(point.offered);
      return { ...point, repeat: runs.indexOf(point) + 1, repeats: runs.length };
    })
    .toSorted((a, b) => a.offered - b.offered || a.repeat - b.repeat);
}

/** For example, `run 2 of 3`. Empty if the rate has a single run. */
export const repeatText = ({ repeat, repeats }: Pick<RatePoint, 'repeat' | 'repeats'>): string =>
  repeats > 1 ? `run ${repeat} of ${repeats}` : '';

/** For example, `Repeated: 2,000 IOPS (3 runs).` Empty if there are none. */
export function repeatedRates(results: Points): string {
  const repeated = byRate(results).filter(({ repeat, repeats }) => repeat === 1 && repeats > 1);
  const texts = repeated.map(({ offered, repeats }) => `${count(offered)} IOPS (${repeats} runs)`);
  return texts.length > 0 ? `Repeated: ${texts.join(', ')}.` : '';
}

type Points = Pick<LoadCurveResults, 'points'>;
interface Coordinates {
  x: number;
  y: number;
}

/** Points in the given classes, sorted by offered rate. */
const ofClass = ({ points }: Points, ...classes: PointClass[]): LoadPoint[] =>
  points.filter((point) => classes.includes(point.class)).toSorted((a, b) => a.offered - b.offered);

/**
 * A latency over achieved IOPS, for sustained runs only. The latencies of other runs are lower
 * bounds or were disturbed.
 */
export const latencyPoints = (results: Points, name: CurveLatency): Coordinates[] =>
  ofClass(results, 'sustained').flatMap(({ achieved, [name]: ns }) =>
    achieved == null || ns == null ? [] : [{ x: achieved, y: ns }],
  );

/** A line through the medians of each rate's sustained runs. */
export const latencyLine = (results: Points, name: CurveLatency): Coordinates[] =>
  medianLine(results, (runs) => latencyPoints(runs, name));

/** A line through the medians of each rate's runs in the given classes. */
export const achievedLine = (results: Points, ...classes: PointClass[]): Coordinates[] =>
  medianLine(results, (runs) => achievedPoints(runs, ...classes));

function medianLine({ points }: Points, pointsOf: (runs: Points) => Coordinates[]): Coordinates[] {
  const rates = [...new Set(points.map(({ offered }) => offered))].sort((a, b) => a - b);
  return rates.flatMap((rate) => {
    const drawn = pointsOf({ points: points.filter(({ offered }) => offered === rate) });
    if (drawn.length === 0) return [];
    return [{ x: median(drawn.map(({ x }) => x)), y: median(drawn.map(({ y }) => y)) }];
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

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
