// A run group's time series: the median and range of its runs in each bucket, computed
// by the server.
import type { BandColumn, Comparison, GroupSeries } from '../../api';
import type { SeriesView } from '../fold/series-view';
import type { Column } from '../series/columns';
import { runsOfGroup } from './metrics';
import { type CompareParameters, GROUP_KEYS } from './selection';

/** A comparison's groups as lists of run numbers. */
export function seriesParameters(comparison: Comparison): CompareParameters {
  const groups = comparison.groups.map((_, group) => {
    const runs = runsOfGroup(comparison, group);
    return [GROUP_KEYS[group], runs.map((run) => comparison.runs[run]?.run.number).join(',')];
  });
  return Object.fromEntries(groups);
}

const STATISTICS = { min: 'low', mean: 'median', max: 'high' } as const;

/** `mean` is the median of the runs. A single run has no band. */
export function groupSeriesView(
  { t_ms, bucket_ms, groups }: GroupSeries,
  group: number,
): SeriesView {
  const series = groups[group];
  const columns = new Map<string, BandColumn>(
    series?.columns.map((column) => [column.name, column]) ?? [],
  );
  const isGroup = (series?.runs.length ?? 0) > 1;
  return {
    banded: isGroup,
    ...(isGroup && { edges: { min: 'lowest run', max: 'highest run' } }),
    length: t_ms.length,
    generation: `${series?.runs.join()}/${bucket_ms}/${t_ms.length}`,
    seconds: (index) => (t_ms[index] ?? 0) / 1000,
    value: (index, [column], statistic = 'mean') =>
      columns.get(column ?? '')?.[STATISTICS[statistic]][index] ?? null,
  };
}

/** Describes a group's time series in one sentence, for screen readers. */
export function groupSeriesText(
  { label, view, column }: { label: string; view: SeriesView; column: Column },
  format: (value: number | null) => string,
): string {
  const values = (statistic: 'min' | 'mean' | 'max') =>
    Array.from({ length: view.length }, (_, i) => view.value(i, [column], statistic)).filter(
      (value) => value !== null,
    );
  const medians = values('mean');
  if (medians.length === 0) return `${label}: no values`;
  const range = (list: readonly number[]) =>
    `${format(Math.min(...list))} to ${format(Math.max(...list))}`;
  if (!view.banded) return `${label}: ${range(medians)}`;
  const edges = [...values('min'), ...values('max')];
  const runs = edges.length > 0 ? `, runs ${range(edges)}` : '';
  return `${label}: median ${range(medians)}${runs}`;
}
