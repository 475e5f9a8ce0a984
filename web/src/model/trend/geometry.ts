// Geometry of a trend chart: equally spaced groups, and values on a linear axis.
import type { Trend, TrendChange, TrendPoint } from '../../api';

export interface Range {
  low: number;
  high: number;
}

/**
 * Minimum range of the axis on each side, in thresholds. It prevents noise from looking like a
 * change.
 */
const MIN_THRESHOLDS = 2;
const PADDING = 0.08;

/**
 * The range of values to show. It includes all groups and the baseline. Runs that are drawn
 * separately are included only if no group and no baseline has a value.
 */
export function valueRange(
  trend: Pick<Trend, 'baseline_statistics' | 'threshold_percent'>,
  points: readonly TrendPoint[],
): Range {
  const all = [...points.map(({ statistics }) => statistics), trend.baseline_statistics];
  const values = all.flatMap((statistics) => {
    const { median, interval } = statistics ?? {};
    return median == null ? [] : [median, interval?.low ?? median, interval?.high ?? median];
  });
  const apart = points.flatMap(({ excluded }) => excluded.flatMap(({ value }) => value ?? []));
  const shown = values.length > 0 ? values : apart;
  if (shown.length === 0) return { low: 0, high: 1 };
  const [least, most] = [Math.min(...shown), Math.max(...shown)];
  const middle = (least + most) / 2;
  const smallest = (Math.abs(middle) * trend.threshold_percent * MIN_THRESHOLDS) / 100;
  const half = Math.max((most - least) / 2, smallest, Number.MIN_VALUE * 2) * (1 + PADDING);
  const low = middle - half;
  return { low: least >= 0 ? Math.max(0, low) : low, high: middle + half };
}

/** Up to about five round values, spaced 1, 2 or 5 times a power of ten apart. */
export function ticks({ low, high }: Range): number[] {
  const least = (high - low) / 5;
  if (!(least > 0) || !Number.isFinite(least)) return [];
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= least) ?? least;
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * step);
}

/** The mean between two change points. */
export interface Level {
  from: number;
  /** Exclusive. */
  to: number;
  mean: number;
}

/**
 * The levels between change points; empty if there are none. `first`: index of the first point
 * shown.
 */
export function levels(changes: readonly TrendChange[], first: number, count: number): Level[] {
  const [initial] = changes;
  if (!initial) return [];
  const starts = [0, ...changes.map(({ point }) => point)];
  const means = [initial.mean_before, ...changes.map(({ mean_after }) => mean_after)];
  return starts
    .map((from, index) => ({
      from: Math.max(0, from - first),
      to: (starts[index + 1] ?? first + count) - first,
      mean: means[index] ?? 0,
    }))
    .filter(({ from, to }) => to > from);
}

/**
 * Indices of the points with a date label: as many as fit, equally spaced, including the last one.
 */
export function labelIndices(count: number, fitting: number): number[] {
  if (count === 0) return [];
  const step = Math.max(1, Math.ceil(count / Math.max(1, fitting)));
  const labels = Array.from({ length: Math.ceil(count / step) }, (_, i) => count - 1 - i * step);
  return labels.toReversed();
}

/** SVG path through all known values. */
export function linePath(values: readonly (readonly [x: number, y: number] | null)[]): string {
  let isOpen = false;
  return values
    .map((value) => {
      if (!value) return '';
      const command = isOpen ? 'L' : 'M';
      isOpen = true;
      return `${command}${value[0].toFixed(1)} ${value[1].toFixed(1)}`;
    })
    .join('');
}
