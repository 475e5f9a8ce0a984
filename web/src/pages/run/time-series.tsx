// Time series of the run as charts or as a table. Long finished runs load buckets for the visible
// range from the server; all other runs are drawn from the fold.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import type { Run } from '../../api';
import { seriesQuery } from '../../api/queries';
import type { ChartGroup } from '../../charts/chart-group';
import { panelsOf } from '../../charts/panels';
import { type LiveRun, useLiveValue, useTick } from '../../charts/use-live-run';
import { ZoomRow } from '../../charts/zoom-row';
import { bandsOf } from '../../model/fold/missing-time';
import { bucketSeries, foldSeries } from '../../model/fold/series-view';
import { steadyBands } from '../../model/fold/steady-state';
import { timeRange } from '../../model/fold/time-range';
import { wholeRun } from '../../model/fold/whole-run';
import { directionsOf } from '../../model/run/summary';
import { MAX_POINTS } from '../../model/series/time-series';
import { ProblemNotice } from '../../ui/problem';
import { useIsSaved } from '../../ui/saved';
import { SeriesTable } from './series-table';

// Starts loading with the page, not when the first chart renders.
const panelGrid = import('../../charts/panel-grid');
const PanelGrid = lazy(() => panelGrid);
const route = getRouteApi('/runs/$n');

export function TimeSeries({ run, live }: { run: Run; live: LiveRun }) {
  const { chartGroup, fold } = live;
  const [asTable, setAsTable] = useState(false);
  // Charts are expensive: they render after the stream is open and the metrics are shown.
  const isReady = useDeferredValue(true, false);
  useZoomInUrl(chartGroup);
  const { view, fullRange, error } = useSeries(run, live);
  const bands = useCallback(() => [...bandsOf(fold), ...steadyBands(fold)], [fold]);
  const whole = useCallback(() => wholeRun(view, fold), [view, fold]);
  const { resolved, rw } = run;
  const host = useLiveValue(chartGroup, () => fold.accepted?.host) ?? run.host_facts ?? undefined;
  const panels = useMemo(
    () => panelsOf(directionsOf({ resolved, rw }), host),
    [resolved, rw, host],
  );
  return (
    <section className="stack" aria-label="Time series">
      <Toolbar chartGroup={chartGroup} asTable={asTable} setAsTable={setAsTable} />
      <ProblemNotice error={error} />
      {asTable && <SeriesTable view={view} panels={panels} chartGroup={chartGroup} />}
      {!asTable && (
        <Suspense fallback={<ChartsPlaceholder />}>
          {isReady ? (
            <PanelGrid
              panels={panels}
              view={view}
              chartGroup={chartGroup}
              fullRange={fullRange}
              bands={bands}
              whole={whole}
              fold={live.bucketed ? null : fold}
              tableHint="same data under “Show as table”"
            />
          ) : (
            <ChartsPlaceholder />
          )}
        </Suspense>
      )}
    </section>
  );
}

/** Reserves the height, so that the layout does not shift. */
const ChartsPlaceholder = () => <div className="charts" style={{ minHeight: 640 }} />;

function useSeries(run: Run, { fold, bucketed, chartGroup }: LiveRun) {
  const version = useTick(bucketed ? chartGroup : NO_CHART_GROUP);
  const isSaved = useIsSaved();
  const zoom = bucketed && !isSaved && version >= 0 ? chartGroup.zoom : null;
  const range = zoom
    ? { from_ms: Math.round(zoom.from * 1000), to_ms: Math.round(zoom.to * 1000) }
    : {};
  const { data, error } = useQuery({
    ...seriesQuery(run.number, range, MAX_POINTS),
    enabled: bucketed,
  });
  const view = useMemo(() => (data ? bucketSeries(data) : foldSeries(fold)), [data, fold]);
  const end = (run.report?.duration_ms ?? 0) / 1000;
  const fullRange = useCallback(
    () => (bucketed ? { from: 0, to: end } : timeRange(fold)),
    [bucketed, end, fold],
  );
  return { view, fullRange, error };
}

/** Never flushes, so that a live series does not rerender `TimeSeries` with every sample. */
const NO_CHART_GROUP = { onFlush: () => () => undefined, version: 0 } as unknown as ChartGroup;

/** Keeps the zoomed range in the URL, so that a link shows the same range. */
function useZoomInUrl(chartGroup: ChartGroup) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const isSaved = useIsSaved();
  useEffect(() => {
    if (!from || !to) return;
    const zoom = { from: Number(from), to: Number(to) };
    if (zoom.to > zoom.from && chartGroup.zoom?.from !== zoom.from) chartGroup.zoomTo(zoom);
  }, [from, to, chartGroup]);
  useEffect(() => {
    if (isSaved) return;
    return chartGroup.onFlush(() => {
      const { zoom } = chartGroup;
      const next = { from: zoom?.from.toFixed(2), to: zoom?.to.toFixed(2) };
      const current = new URLSearchParams(window.location.search);
      const isSame = (['from', 'to'] as const).every(
        (key) => (current.get(key) ?? undefined) === next[key],
      );
      if (!isSame) void navigate({ search: next, replace: true, resetScroll: false });
    });
  }, [chartGroup, navigate, isSaved]);
}

interface ToolbarProps {
  chartGroup: ChartGroup;
  asTable: boolean;
  setAsTable: (asTable: boolean) => void;
}

function Toolbar({ chartGroup, asTable, setAsTable }: ToolbarProps) {
  useTick(chartGroup);
  return (
    <ZoomRow chartGroup={chartGroup}>
      <Button
        data-key="p"
        data-action="Pause or resume the charts"
        aria-pressed={chartGroup.paused}
        onClick={() => chartGroup.pause(!chartGroup.paused)}
      >
        {chartGroup.paused ? 'Resume' : 'Pause'}
      </Button>
      <Button
        data-key="t"
        data-action="Switch between charts and table"
        aria-pressed={asTable}
        onClick={() => setAsTable(!asTable)}
      >
        {asTable ? 'Show as charts' : 'Show as table'}
      </Button>
    </ZoomRow>
  );
}
