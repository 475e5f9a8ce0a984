// Loads the time series of compared groups, aligned at the start of the measurement, and shows them
// in the same charts: the median of the runs with a band from the lowest to the highest run.
// Latency percentiles are from one run, with a band for the range of all runs.
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import type { Comparison, GroupSeries } from '../api';
import { compareSeriesQuery } from '../api/queries';
import { curveBand } from '../model/compare/curve-band';
import { groupSeriesView, seriesParameters } from '../model/compare/group-time-series';
import { includedRuns, representativeRun } from '../model/compare/metrics';
import { plural } from '../model/format/numbers';
import { latencyOf } from '../model/run/reported-latency';
import { lineStyle } from '../model/series/line-style';
import { ProblemNotice } from '../ui/problem';
import { useIsSaved } from '../ui/saved';

const OverlayCharts = lazy(() => import('./overlay-charts'));

interface OverlaysProps {
  comparison: Comparison;
  /** Returns the legend label for a run number. Must be stable between renders. */
  runLabel?: (run: number) => string;
}

const numberLabel = (run: number) => `#${run}`;

export function Overlays({ comparison, runLabel = numberLabel }: OverlaysProps) {
  const parameters = useMemo(() => seriesParameters(comparison), [comparison]);
  const isSaved = useIsSaved();
  const { data, error, refetch } = useQuery({
    ...compareSeriesQuery(parameters),
    enabled: !isSaved,
  });
  const groups = useMemo(() => listGroups(comparison, runLabel), [comparison, runLabel]);
  const lines = useMemo(() => toLines(comparison, groups, data), [comparison, groups, data]);
  const curves = useMemo(
    () =>
      groups
        .map(({ label, group, compared }, index) => ({
          label,
          ...lineStyle(index),
          buckets: latencyOf(compared),
          band: curveBand(
            includedRuns(comparison, group).flatMap((run) => {
              const included = comparison.runs[run];
              return included ? [latencyOf(included)] : [];
            }),
          ),
        }))
        .filter(({ buckets }) => buckets.length > 0),
    [groups, comparison],
  );
  // The axis ends when the longest run ends.
  const longest_s = Math.max(...comparison.runs.map((run) => (run.duration_ms ?? 0) / 1000)) || 1;
  return (
    <Suspense fallback={<div style={{ minHeight: 480 }} />}>
      {error && <ProblemNotice error={error} retry={refetch} />}
      <OverlayCharts groups={lines} curves={curves} longest_s={longest_s} />
    </Suspense>
  );
}

/** Groups that have runs, each with the run whose percentiles are shown. */
function listGroups(comparison: Comparison, runLabel: (run: number) => string) {
  return comparison.groups.flatMap(({ label, runs }, group) => {
    const compared = representativeRun(comparison, group);
    if (!compared) return [];
    const name =
      runs.length > 1
        ? `${label} (${plural(includedRuns(comparison, group).length || runs.length, 'run')})`
        : runLabel(compared.run.number);
    return [{ label: name, group, compared }];
  });
}

/** Returns no lines while `series` still belongs to a different number of groups. */
function toLines(
  comparison: Comparison,
  groups: ReturnType<typeof listGroups>,
  series: GroupSeries | undefined,
) {
  if (series?.groups.length !== comparison.groups.length) return [];
  return groups.map(({ label, group }, index) => ({
    label,
    ...lineStyle(index),
    view: groupSeriesView(series, group),
    whole: Object.fromEntries(
      series.groups[group]?.columns.map((column) => [column.name, column.whole]) ?? [],
    ),
  }));
}
