// A common interface for the time series in charts. Points are in seconds since the start of the
// measurement. They come from the live fold, or from the server in buckets. Only buckets have a
// minimum and a maximum in addition to the mean.
import type { Series, SeriesColumn } from '../../api';
import type { Column, Row } from '../series/columns';
import { type RunFold, rampOf } from './run-fold';

type Statistic = 'min' | 'mean' | 'max';

export interface SeriesView {
  readonly length: number;
  /**
   * Changes when earlier points change. If it stays the same, only the last point can have changed.
   */
  readonly generation: string;
  /** True if points have a minimum and a maximum in addition to the mean. */
  readonly banded: boolean;
  /**
   * Names of the minimum and the maximum if they are meaningful by themselves, such as the lowest
   * run. The band's edges are drawn only if they have names.
   */
  readonly edges?: { min: string; max: string };
  /** Seconds since the start of the measurement; negative during the ramp. */
  seconds: (index: number) => number;
  /** The sum of columns; null if all are unknown. */
  value: (index: number, columns: readonly Column[], statistic?: Statistic) => number | null;
}

function sumKnown(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) : null;
}

export function foldSeries(fold: RunFold): SeriesView {
  const points = () => fold.series.points;
  return {
    banded: false,
    get length() {
      return points().length;
    },
    get generation() {
      return `${fold.series.halvings}/${originMs(fold)}`;
    },
    seconds: (index) => ((points()[index]?.window.end_ms ?? 0) - originMs(fold)) / 1000,
    value: (index, columns) => {
      const row: Partial<Record<Column, Row[keyof Row]>> | undefined = points()[index]?.row;
      return sumKnown(columns.map((column) => row?.[column]));
    },
  };
}

/**
 * Origin of the time axis: the actual or expected start of the measurement, in ms since the start
 * of the run.
 */
export function originMs(fold: RunFold): number {
  if (fold.measure_begin_ms !== null) return fold.measure_begin_ms;
  const ramp = fold.phases.find(({ phase }) => phase === 'ramp');
  return ramp && fold.accepted ? ramp.begin_ms + rampOf(fold.accepted.jobs) : fold.now_ms;
}

/** If `banded`, charts also show the minimum and maximum of each bucket. */
export function bucketSeries(series: Series, banded = true): SeriesView {
  const { run, from_ms, to_ms, t_ms } = series;
  const columns = new Map<string, SeriesColumn>(
    series.columns.map((column) => [column.name, column]),
  );
  return {
    banded,
    length: t_ms.length,
    generation: `${run}/${from_ms}/${to_ms}/${t_ms.length}`,
    seconds: (index) => (t_ms[index] ?? 0) / 1000,
    value: (index, names, statistic = 'mean') =>
      sumKnown(names.map((name) => columns.get(name)?.[statistic][index])),
  };
}

export interface XY {
  x: number;
  y: number;
}

/** Updates `line` in place: replaces the last point and appends new ones. */
export function syncPoints(
  line: XY[],
  view: SeriesView,
  columns: readonly Column[],
  statistic: Statistic = 'mean',
) {
  line.length = Math.max(0, Math.min(line.length, view.length) - 1);
  for (let i = line.length; i < view.length; i += 1) {
    line.push({ x: view.seconds(i), y: view.value(i, columns, statistic) ?? Number.NaN });
  }
}

/** Returns the index of the point closest to a time, or -1 if there are no points. */
export function nearestIndex(view: SeriesView, seconds: number): number {
  if (view.length === 0) return -1;
  let low = 0;
  let high = view.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (view.seconds(middle) < seconds) low = middle + 1;
    else high = middle;
  }
  const distance = (index: number) => Math.abs(view.seconds(index) - seconds);
  return low > 0 && distance(low - 1) < distance(low) ? low - 1 : low;
}

/**
 * Maximum number of points to search backward. A column that is sampled once a second has a value
 * in every tenth point.
 */
const LOOK_BACK = 12;

/** Returns the last known sum of columns at an index or shortly before it. */
export function lastKnownValue(
  view: SeriesView,
  columns: readonly Column[],
  from = view.length - 1,
): number | null {
  for (let i = from; i >= Math.max(0, from - LOOK_BACK); i -= 1) {
    const value = view.value(i, columns);
    if (value !== null) return value;
  }
  return null;
}
