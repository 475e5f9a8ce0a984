// A course as charts read it: points on an axis in seconds from the start of the measured window, and the value of a
// column at each. The live fold and the server's buckets look the same from here; only buckets have a least and a
// greatest value beside the mean.
import type { Series, SeriesColumn } from '../../api';
import type { Column, Row } from '../series/columns';
import { type RunFold, rampOf } from './run-fold';

/** Points to draw. */
export interface SeriesView {
  readonly length: number;
  /** Changes when earlier points are no longer what they were; otherwise only the last one may have grown. */
  readonly generation: string;
  /** Whether `low` and `high` differ from `value`. */
  readonly banded: boolean;
  /** Seconds since the measured window began; negative during the ramp. */
  seconds: (at: number) => number;
  /** The value of a column, or of several together; null where none is known. */
  value: (at: number, columns: readonly Column[], which?: 'min' | 'mean' | 'max') => number | null;
}

function total(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value): value is number => value !== null && value !== undefined);
  return known.length > 0 ? known.reduce((a, b) => a + b, 0) : null;
}

/** The course of a run that is folded in this page. */
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
    seconds: (at) => ((points()[at]?.window.end_ms ?? 0) - originMs(fold)) / 1000,
    value: (at, columns) => {
      const row: Row | undefined = points()[at]?.row;
      return total(columns.map((column) => row?.[column]));
    },
  };
}

/** Where the axis begins, in ms since the run began: the measured window, or where it will begin after the ramp. */
export function originMs(fold: RunFold): number {
  const ramp = fold.phases.find(({ phase }) => phase === 'ramp');
  return (
    fold.measure_begin_ms ??
    (ramp && fold.accepted ? ramp.begin_ms + rampOf(fold.accepted.jobs) : fold.now_ms)
  );
}

/** The course of a finished run as the server put it into buckets; `banded` shows least and greatest values too. */
export function bucketSeries(series: Series, banded = true): SeriesView {
  const columns = new Map(
    series.columns.map((column) => [column.name, column] as [string, SeriesColumn]),
  );
  return {
    banded,
    length: series.t_ms.length,
    generation: `${series.run}/${series.from_ms}/${series.to_ms}/${series.t_ms.length}`,
    seconds: (at) => (series.t_ms[at] ?? 0) / 1000,
    value: (at, names, which = 'mean') =>
      total(names.map((name) => columns.get(name)?.[which][at])),
  };
}

/** A point of a drawn line. */
export interface XY {
  x: number;
  y: number;
}

/** Brings a line up to date with a view, in place: points that cannot have changed are left alone. */
export function syncPoints(
  line: XY[],
  view: SeriesView,
  columns: readonly Column[],
  which: 'min' | 'mean' | 'max' = 'mean',
) {
  const settled = Math.max(0, Math.min(line.length, view.length) - 1);
  line.length = settled;
  for (let at = settled; at < view.length; at += 1)
    line.push({ x: view.seconds(at), y: view.value(at, columns, which) ?? Number.NaN });
}

/** The point nearest to a moment in seconds; -1 where there is none. */
export function nearestIndex(view: SeriesView, seconds: number): number {
  let [low, high] = [0, view.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (view.seconds(middle) < seconds) low = middle + 1;
    else high = middle;
  }
  const before =
    low > 0 && Math.abs(view.seconds(low - 1) - seconds) < Math.abs(view.seconds(low) - seconds);
  return before ? low - 1 : high < 0 ? -1 : low;
}

/** How far back the last known value is looked for, in points: what is read once a second stands in one point of ten. */
const LOOK_BACK = 12;

/** The last value of a column, or of several together, at a point; null where it and those before it have none. */
export function lastKnownValue(
  view: SeriesView,
  columns: readonly Column[],
  from = view.length - 1,
): number | null {
  for (let at = from; at >= Math.max(0, from - LOOK_BACK); at -= 1) {
    const value = view.value(at, columns);
    if (value !== null) return value;
  }
  return null;
}
