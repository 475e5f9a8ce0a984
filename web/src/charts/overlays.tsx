// The courses laid over each other, all beginning at the start of their measured windows, and the percentile curves.
import { useQueries } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import type { Comparison } from '../api';
import { seriesQuery } from '../api/queries';
import { bucketsOf } from '../model/compare';
import { MAX_POINTS } from '../model/course';
import { seriesOfBuckets } from '../model/series';
import { strokeOf } from '../model/stroke';

const OverlayCharts = lazy(() => import('./overlay-charts'));

/** Courses and curves of all runs. */
export function Overlays({ comparison: { runs } }: { comparison: Comparison }) {
  const series = useQueries({
    queries: runs.map(({ run }) => seriesQuery(run.number, {}, MAX_POINTS)),
    combine: (results) => results.map(({ data }) => data),
  });
  const overlaid = useMemo(
    () =>
      runs.flatMap(({ run }, place) => {
        const data = series[place];
        return data ? [{ label: `#${run.number}`, ...strokeOf(place), view: seriesOfBuckets(data, false) }] : [];
      }),
    [runs, series],
  );
  const curves = useMemo(
    () =>
      runs
        .map((compared, place) => ({ label: `#${compared.run.number}`, ...strokeOf(place), buckets: bucketsOf(compared) }))
        .filter(({ buckets }) => buckets.length > 0),
    [runs],
  );
  const longest_s = Math.max(1, ...runs.map(({ duration_ms }) => (duration_ms ?? 0) / 1000));
  return (
    <Suspense fallback={<div style={{ minHeight: 480 }} />}>
      <OverlayCharts runs={overlaid} curves={curves} longest_s={longest_s} />
    </Suspense>
  );
}
