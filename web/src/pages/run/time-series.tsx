// Time series of the run as charts or as a table. For long finished runs, buckets of the visible
// range are loaded from the server. All other runs are drawn from the fold.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import {
  lazy,
  type ReactNode,
  Suspense,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useState,
} from 'react';
import type { Run } from '../../api';
import { type ChartGroup, type Range, redrawIntervalMs } from '../../charts/chart-group';
import { getPanels } from '../../charts/panels';
import { type LiveRun, useLiveValue, useTick } from '../../charts/use-live-run';
import { ZoomRow } from '../../charts/zoom-row';
import { foldHeat, seriesHeat } from '../../model/fold/heat-source';
import { toBands } from '../../model/fold/missing-time';
import { isFinal } from '../../model/fold/run-fold';
import { bucketSeries, foldSeries, originMs } from '../../model/fold/series-view';
import { steadyBands } from '../../model/fold/steady-state';
import { timeRange } from '../../model/fold/time-range';
import { wholeRun } from '../../model/fold/whole-run';
import { marksOf } from '../../model/run/marks';
import { getDirections } from '../../model/run/summary';
import { ProblemNotice } from '../../ui/problem';
import { useIsSaved } from '../../ui/saved';
import { AnnotateButton } from './annotations';
import { runSeriesQuery } from './series-query';
import { SeriesTable } from './series-table';

const loadPanelGrid = () => import('../../charts/panel-grid');
const PanelGrid = lazy(loadPanelGrid);
const route = getRouteApi('/runs/$n');

export function TimeSeries({ run, live }: { run: Run; live: LiveRun }) {
  const { chartGroup, fold, bucketed } = live;
  const isSaved = useIsSaved();
  const [asTable, setAsTable] = useState(false);
  // The charts are loaded after the verdict and the metrics, and drawn after the first sample.
  const hasMetrics = useLiveValue(chartGroup, () => bucketed || fold.lastSeq >= 0);
  const isLoading = useDeferredValue(hasMetrics, false);
  useEffect(() => {
    if (isLoading) void loadPanelGrid();
  }, [isLoading]);
  const hasSamples = useLiveValue(
    chartGroup,
    () => bucketed || isFinal(fold.status) || fold.series.points.length > 0,
  );
  useZoomInUrl(chartGroup);
  const { view, heat, fullRange, error } = useSeries(run, live);
  useRedrawInterval(chartGroup, fullRange);
  const bands = useCallback(() => [...toBands(fold), ...steadyBands(fold)], [fold]);
  const { annotations, resolved, rw } = run;
  const marks = useCallback(() => marksOf(annotations, originMs(fold)), [annotations, fold]);
  const whole = useCallback(() => wholeRun(view, fold), [view, fold]);
  const host = useLiveValue(chartGroup, () => fold.accepted?.host) ?? run.host_facts ?? undefined;
  const panels = useMemo(
    () => getPanels(getDirections({ resolved, rw }), host),
    [resolved, rw, host],
  );
  return (
    <section className="stack" aria-label="Time series">
      <Toolbar live={live} asTable={asTable} setAsTable={setAsTable}>
        {!isSaved && <AnnotateButton run={run} live={live} />}
      </Toolbar>
      <ProblemNotice error={error} />
      {asTable && <SeriesTable view={view} panels={panels} chartGroup={chartGroup} />}
      {!asTable && (
        <Suspense fallback={<ChartsPlaceholder />}>
          {isLoading && hasSamples ? (
            <PanelGrid
              panels={panels}
              view={view}
              chartGroup={chartGroup}
              fullRange={fullRange}
              bands={bands}
              marks={marks}
              whole={whole}
              heat={heat}
              tableHint="same data under “Show as table”"
            />
          ) : (
            <ChartsPlaceholder>
              {!hasSamples && 'The charts appear with the first sample.'}
            </ChartsPlaceholder>
          )}
        </Suspense>
      )}
    </section>
  );
}

/** Reserves space for the charts, so that the layout does not shift. */
const ChartsPlaceholder = ({ children }: { children?: ReactNode }) => (
  <div className="charts mute" style={{ minHeight: 640 }}>
    {children}
  </div>
);

function useSeries(run: Run, { fold, bucketed, chartGroup }: LiveRun) {
  const version = useTick(bucketed ? chartGroup : NO_CHART_GROUP);
  const isSaved = useIsSaved();
  const zoom = bucketed && !isSaved && version >= 0 ? chartGroup.zoom : null;
  const range = zoom
    ? { from_ms: Math.round(zoom.from * 1000), to_ms: Math.round(zoom.to * 1000) }
    : {};
  const { data, error } = useQuery({
    ...runSeriesQuery(run.number, range),
    enabled: bucketed,
  });
  const view = useMemo(() => (data ? bucketSeries(data) : foldSeries(fold)), [data, fold]);
  const heat = useMemo(() => (data ? seriesHeat(data) : foldHeat(fold)), [data, fold]);
  const end = (run.report?.duration_ms ?? 0) / 1000;
  const fullRange = useCallback(
    () => (bucketed ? { from: 0, to: end } : timeRange(fold)),
    [bucketed, end, fold],
  );
  return { view, heat, fullRange, error };
}

/**
 * A chart group that never flushes. It prevents a live series from rerendering `TimeSeries` with
 * every sample.
 */
const NO_CHART_GROUP = { onFlush: () => () => undefined, version: 0 } as unknown as ChartGroup;

/** Width of a chart's time axis on a common screen, in pixels. */
const CHART_WIDTH = 400;

/** Limits redraws to the rate at which the charts can change by a pixel. */
function useRedrawInterval(chartGroup: ChartGroup, fullRange: () => Range) {
  useEffect(() => {
    chartGroup.interval = () => redrawIntervalMs(chartGroup.zoom ?? fullRange(), CHART_WIDTH);
  }, [chartGroup, fullRange]);
}

/** Keeps the zoomed range in the URL, so that a link to the page shows the same range. */
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
  live: LiveRun;
  asTable: boolean;
  setAsTable: (asTable: boolean) => void;
  children: ReactNode;
}

function Toolbar({ live: { chartGroup, fold }, asTable, setAsTable, children }: ToolbarProps) {
  const isPaused = useLiveValue(chartGroup, () => chartGroup.paused);
  // A finished run's charts do not move, so they cannot be paused. If they were paused when
  // the run finished, they can still be resumed.
  const canPause = useLiveValue(chartGroup, () => chartGroup.paused || !isFinal(fold.status));
  return (
    <ZoomRow chartGroup={chartGroup}>
      {children}
      {canPause && (
        <Button
          data-key="p"
          data-action="Pause or resume the charts"
          aria-pressed={isPaused}
          onClick={() => chartGroup.pause(!isPaused)}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      )}
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
