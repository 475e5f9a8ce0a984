// Whole-run values for the chart legends of a finished run. Percentiles of windows cannot be
// combined, so they come from the report or from merged histograms.
import type { Report } from '../../api';
import { reportedLatencies, toKeyLatencies } from '../run/reported-latency';
import type { Column } from '../series/columns';
import { isFinal, type RunFold } from './run-fold';
import type { SeriesView } from './series-view';
import { totalLatencies } from './totals';

/** Value for a sum of columns; null if unknown. */
export type WholeValue = (columns: readonly Column[]) => number | null;

/** Null while the run is active. */
export function wholeRun(view: SeriesView, fold: RunFold): WholeValue | null {
  if (!isFinal(fold.status)) return null;
  const report = fold.result?.report;
  const { p50, p99, p999, max } = report
    ? reportedLatencies(report)
    : toKeyLatencies(totalLatencies(fold.totals));
  const known: Partial<Record<Column, number | null>> = {
    ...reportRates(report),
    lat_p50_ns: p50.ns ?? null,
    lat_p99_ns: p99.ns ?? null,
    lat_p999_ns: p999.ns ?? null,
    lat_max_ns: max.ns ?? null,
  };
  return (columns) => {
    const values = columns.map((column) => known[column]);
    if (values.every((value) => typeof value === 'number'))
      return values.reduce((a, b) => a + b, 0);
    return meanOf(view, columns);
  };
}

function reportRates(report: Report | undefined): Partial<Record<Column, number>> {
  if (!report) return {};
  const { read, write, trim } = report;
  return {
    read_iops: read.iops,
    write_iops: write.iops,
    trim_iops: trim.iops,
    read_bytes_per_second: read.bytes_per_second,
    write_bytes_per_second: write.bytes_per_second,
  };
}

/** Mean over the measurement, weighted by window length. */
export function meanOf(view: SeriesView, columns: readonly Column[]): number | null {
  let sum = 0;
  let length = 0;
  for (let i = 0; i < view.length; i += 1) {
    const value = view.value(i, columns);
    const end = view.seconds(i);
    const begin = i > 0 ? Math.max(0, view.seconds(i - 1)) : 0;
    if (value === null || end <= begin) continue;
    sum += value * (end - begin);
    length += end - begin;
  }
  return length > 0 ? sum / length : null;
}
