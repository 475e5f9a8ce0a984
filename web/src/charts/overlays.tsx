// Loads the time series of compared runs, aligned at the start of the measurement, and shows them
// in the same charts. A group of repeats is shown by one run; its latency percentiles have a band with
// the range of all its runs.
import { useQueries } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import type { Comparison } from '../api';
import { seriesQuery } from '../api/queries';
import { curveBand } from '../model/compare/curve-band';
import { includedRuns, representative } from '../model/compare/metrics';
import { bucketSeries } from '../model/fold/series-view';
import { keyLatenciesOf, latencyOf } from '../model/run/reported-latency';
import { lineStyle } from '../model/series/line-style';
import { MAX_POINTS } from '../model/series/time-series';
import { useIsSaved } from '../ui/saved';

const OverlayCharts = lazy(() => import('./overlay-charts'));

interface OverlaysProps {
  comparison: Comparison;
  /** Returns the legend label for a run number; must be stable between renders. */
  runLabel?: (run: number) => string;
}

const numberLabel = (run: number) => `#${run}`;

export function Overlays({ comparison, runLabel = numberLabel }: OverlaysProps) {
  const shown = useMemo(
    () =>
      comparison.groups.flatMap(({ label, runs }, group) => {
        const compared = representative(comparison, group);
        if (!compared) return [];
        return [{ ...compared, label: runs.length > 1 ? label : runLabel(compared.run.number) }];
      }),
    [comparison, runLabel],
  );
  const isSaved = useIsSaved();
  const series = useQueries({
    queries: shown.map(({ run }) => ({
      ...seriesQuery(run.number, { points: MAX_POINTS }),
      enabled: !isSaved,
    })),
    combine: (results) => results.map(({ data }) => data),
  });
  const lines = useMemo(
    () =>
      shown.flatMap((compared, index) => {
        const data = series[index];
        if (!data) return [];
        const lat_p99_ns = keyLatenciesOf(latencyOf(compared)).p99.ns;
        const view = bucketSeries(data, false);
        return [{ label: compared.label, ...lineStyle(index), view, lat_p99_ns }];
      }),
    [shown, series],
  );
  const curves = useMemo(
    () =>
      shown
        .map((compared, index) => ({
          label: compared.label,
          ...lineStyle(index),
          buckets: latencyOf(compared),
          band: curveBand(
            includedRuns(comparison, compared.group).flatMap((run) => {
              const included = comparison.runs[run];
              return included ? [latencyOf(included)] : [];
            }),
          ),
        }))
        .filter(({ buckets }) => buckets.length > 0),
    [shown, comparison],
  );
  // The axis ends with the longest run.
  const longest_s = Math.max(...shown.map(({ duration_ms }) => (duration_ms ?? 0) / 1000)) || 1;
  return (
    <Suspense fallback={<div style={{ minHeight: 480 }} />}>
      <OverlayCharts runs={lines} curves={curves} longest_s={longest_s} />
    </Suspense>
  );
}
