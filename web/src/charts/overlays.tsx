// Loads the time series of compared runs, aligned at the start of the measurement, and shows them
// in the same charts. A group of repeats is shown by one run.
import { useQueries } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import type { Comparison } from '../api';
import { seriesQuery } from '../api/queries';
import { representative } from '../model/compare/metrics';
import { bucketSeries } from '../model/fold/series-view';
import { latencyOf } from '../model/run/reported-latency';
import { lineStyle } from '../model/series/line-style';
import { MAX_POINTS } from '../model/series/time-series';

const OverlayCharts = lazy(() => import('./overlay-charts'));

interface OverlaysProps {
  comparison: Comparison;
  /** The legend label of a run by its number; must be stable between renders. */
  runLabel?: (run: number) => string;
}

const numberLabel = (run: number) => `#${run}`;

export function Overlays({ comparison, runLabel = numberLabel }: OverlaysProps) {
  const runs = useMemo(
    () => comparison.groups.flatMap((_, group) => representative(comparison, group) ?? []),
    [comparison],
  );
  const series = useQueries({
    queries: runs.map(({ run }) => seriesQuery(run.number, {}, MAX_POINTS)),
    combine: (results) => results.map(({ data }) => data),
  });
  const lines = useMemo(
    () =>
      runs.flatMap(({ run }, index) => {
        const data = series[index];
        return data
          ? [{ label: runLabel(run.number), ...lineStyle(index), view: bucketSeries(data, false) }]
          : [];
      }),
    [runs, series, runLabel],
  );
  const curves = useMemo(
    () =>
      runs
        .map((compared, index) => ({
          label: runLabel(compared.run.number),
          ...lineStyle(index),
          buckets: latencyOf(compared),
        }))
        .filter(({ buckets }) => buckets.length > 0),
    [runs, runLabel],
  );
  const longest_s = Math.max(1, ...runs.map(({ duration_ms }) => (duration_ms ?? 0) / 1000));
  return (
    <Suspense fallback={<div style={{ minHeight: 480 }} />}>
      <OverlayCharts runs={lines} curves={curves} longest_s={longest_s} />
    </Suspense>
  );
}
