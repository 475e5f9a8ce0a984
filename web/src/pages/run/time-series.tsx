// The course of the run: six charts on one stage, or the same numbers as a table. Long runs with a report are asked
// for in buckets, anew for every stretch that is zoomed to; all others come from the fold.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import type { Run } from '../../api';
import { seriesQuery } from '../../api/queries';
import type { ChartGroup, Range } from '../../charts/chart-group';
import { panelsOf } from '../../charts/panels';
import { type Live, useLiveValue, useTick } from '../../charts/use-live';
import { ZoomRow } from '../../charts/zoom-row';
import { bucketSeries, foldSeries, type SeriesView } from '../../model/fold/series-view';
import { timeRange } from '../../model/fold/time-range';
import { errorText } from '../../model/format/problem-text';
import { directionsOf } from '../../model/run/summary';
import { MAX_POINTS } from '../../model/series/time-series';
import { ProblemNotice } from '../../ui/problem';
import { SeriesTable } from './series-table';

// Asked for at once, beside the first picture, and not when it is first drawn.
const panelGrid = import('../../charts/panel-grid');
const PanelGrid = lazy(() => panelGrid);
const route = getRouteApi('/runs/$n');

/** The charts with their tools. */
export function TimeSeries({ run, live }: { run: Run; live: Live }) {
  const [asTable, setAsTable] = useState(false);
  // Charts cost more than all else: the stream is opened and the figures stand before they are made.
  const drawing = useDeferredValue(true, false);
  useZoomInAddress(live.chartGroup);
  const { view, whole, error } = useSeries(run, live);
  const { resolved, rw } = run;
  const host =
    useLiveValue(live.chartGroup, () => live.fold.accepted?.host) ?? run.host_facts ?? undefined;
  const panels = useMemo(
    () => panelsOf(directionsOf({ resolved, rw }), host),
    [resolved, rw, host],
  );
  return (
    <section className="stack" aria-label="Course over time">
      <Tools chartGroup={live.chartGroup} asTable={asTable} setAsTable={setAsTable} />
      {error ? <ProblemNotice problem={errorText(error)} /> : null}
      {asTable && <SeriesTable view={view} panels={panels} chartGroup={live.chartGroup} />}
      {!asTable && (
        <Suspense fallback={<ChartsPlaceholder />}>
          {drawing ? (
            <PanelGrid
              panels={panels}
              view={view}
              chartGroup={live.chartGroup}
              whole={whole}
              elsewhere="“Show as table” has the same numbers"
            />
          ) : (
            <ChartsPlaceholder />
          )}
        </Suspense>
      )}
    </section>
  );
}

/** Holds the place, so that nothing jumps. */
const ChartsPlaceholder = () => <div className="charts" style={{ minHeight: 640 }} />;

/** Where the points come from, and the stretch of all of them. */
function useSeries(
  run: Run,
  { fold, bucketed, chartGroup }: Live,
): { view: SeriesView; whole: () => Range; error: unknown } {
  const version = useTick(bucketed ? chartGroup : NO_CHART_GROUP);
  const zoom = bucketed && version >= 0 ? chartGroup.zoom : null;
  const range = zoom
    ? { from_ms: Math.round(zoom.from * 1000), to_ms: Math.round(zoom.to * 1000) }
    : {};
  const { data, error } = useQuery({
    ...seriesQuery(run.number, range, MAX_POINTS),
    enabled: bucketed,
  });
  const view = useMemo(() => (data ? bucketSeries(data) : foldSeries(fold)), [data, fold]);
  const end = (run.report?.duration_ms ?? 0) / 1000;
  const whole = useCallback(
    () => (bucketed ? { from: 0, to: end } : timeRange(fold)),
    [bucketed, end, fold],
  );
  return { view, whole, error };
}

/** Subscribes to nothing: a live course must not render this part at every flush. */
const NO_CHART_GROUP = { onFlush: () => () => undefined, version: 0 } as unknown as ChartGroup;

/** Keeps the zoomed stretch in the address, so that a link shows what its sender saw. */
function useZoomInAddress(chartGroup: ChartGroup) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  useEffect(() => {
    const wanted = from && to ? { from: Number(from), to: Number(to) } : null;
    if (wanted && wanted.to > wanted.from && chartGroup.zoom?.from !== wanted.from)
      chartGroup.zoomTo(wanted);
  }, [from, to, chartGroup]);
  useEffect(
    () =>
      chartGroup.onFlush(() => {
        const next = chartGroup.zoom
          ? { from: chartGroup.zoom.from.toFixed(2), to: chartGroup.zoom.to.toFixed(2) }
          : {};
        const current = new URLSearchParams(window.location.search);
        if (
          (current.get('from') ?? undefined) !== next.from ||
          (current.get('to') ?? undefined) !== next.to
        )
          void navigate({ search: next, replace: true });
      }),
    [chartGroup, navigate],
  );
}

function Tools({
  chartGroup,
  asTable,
  setAsTable,
}: {
  chartGroup: ChartGroup;
  asTable: boolean;
  setAsTable: (on: boolean) => void;
}) {
  useTick(chartGroup);
  return (
    <ZoomRow chartGroup={chartGroup}>
      <Button
        data-key="p"
        data-does="pause or resume drawing"
        aria-pressed={chartGroup.paused}
        onClick={() => chartGroup.pause(!chartGroup.paused)}
      >
        {chartGroup.paused ? 'Resume' : 'Pause'}
      </Button>
      <Button
        data-key="t"
        data-does="charts or table"
        aria-pressed={asTable}
        onClick={() => setAsTable(!asTable)}
      >
        {asTable ? 'Show as charts' : 'Show as table'}
      </Button>
    </ZoomRow>
  );
}
