// The courses laid over each other, all beginning at the start of their measured windows, and the percentile curves.
import { useQueries } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import type { Comparison } from '../api';
import { seriesQuery } from '../api/queries';
import { bucketsOf } from '../model/compare/metrics';
import { bucketSeries } from '../model/fold/series-view';
import { lineStyle } from '../model/series/line-style';
import { MAX_POINTS } from '../model/series/time-series';

const OverlayCharts = lazy(() => import('./overlay-charts'));

interface OverlaysProps {
  comparison: Comparison;
  /** What a run is called in the legends, by its number. */
  labelOf?: (run: number) => string;
}

const byNumber = (run: number) => `#${run}`;

/** Courses and curves of all runs. `labelOf` must be the same from one rendering to the next. */
export function Overlays({ comparison: { runs }, labelOf = byNumber }: OverlaysProps) {
  const series = useQueries({
    queries: runs.map(({ run }) => seriesQuery(run.number, {}, MAX_POINTS)),
    combine: (results) => results.map(({ data }) => data),
  });
  const overlaid = useMemo(
    () =>
      runs.flatMap(({ run }, place) => {
        const data = series[place];
        return data
          ? [{ label: labelOf(run.number), ...lineStyle(place), view: bucketSeries(data, false) }]
          : [];
      }),
    [runs, series, labelOf],
  );
  const curves = useMemo(
    () =>
      runs
        .map((compared, place) => ({
          label: labelOf(compared.run.number),
          ...lineStyle(place),
          buckets: bucketsOf(compared),
        }))
        .filter(({ buckets }) => buckets.length > 0),
    [runs, labelOf],
  );
  const longest_s = Math.max(1, ...runs.map(({ duration_ms }) => (duration_ms ?? 0) / 1000));
  return (
    <Suspense fallback={<div style={{ minHeight: 480 }} />}>
      <OverlayCharts runs={overlaid} curves={curves} longest_s={longest_s} />
    </Suspense>
  );
}
