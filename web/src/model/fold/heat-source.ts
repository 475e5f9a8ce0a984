// The columns of a heat map, from the fold's windows or the server's buckets.
import type { Series } from '../../api';
import { type HeatColumn, heatColumn } from '../series/heat-map';
import type { Window } from '../series/window';
import type { RunFold } from './run-fold';
import { originMs } from './series-view';

export interface HeatSource {
  /** In chronological order. */
  columns: () => readonly HeatColumn[];
  /** Start of the measurement, on the same time axis as the columns. */
  originMs: () => number;
}

/** Each window's column is computed only once. */
export function foldHeat(fold: RunFold): HeatSource {
  const known = new WeakMap<Window, HeatColumn>();
  const columnOf = (window: Window) => {
    const column = known.get(window) ?? heatColumn(window);
    known.set(window, column);
    return column;
  };
  return {
    columns: () => fold.series.points.map(({ window }) => columnOf(window)),
    originMs: () => originMs(fold),
  };
}

/** Returns no columns if the series was saved by a version that did not store latency rows. */
export function seriesHeat({ t_ms, bucket_ms, latency_rows }: Series): HeatSource {
  const columns = (latency_rows ?? []).map((rows, index): HeatColumn => {
    const end_ms = t_ms[index] ?? 0;
    const counts = new Map(rows.map(([row = 0, count = 0]) => [row, count]));
    return { begin_ms: end_ms - bucket_ms, end_ms, counts };
  });
  return { columns: () => columns, originMs: () => 0 };
}
