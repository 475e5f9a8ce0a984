// The course of the run: six charts on one stage, or the same numbers as a table. Long runs with a report are asked
// for in buckets, anew for every stretch that is zoomed to; all others come from the fold.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useState } from 'react';
import type { Run } from '../../api';
import { seriesQuery } from '../../api/queries';
import { panelsOf } from '../../charts/panels';
import type { Range, Stage } from '../../charts/stage';
import { type Live, useFromStage, useTick } from '../../charts/use-live';
import { ZoomRow } from '../../charts/zoom-row';
import { MAX_POINTS } from '../../model/course';
import { type SeriesView, seriesOfBuckets, seriesOfFold } from '../../model/series';
import { spanOf } from '../../model/span';
import { directionsOf } from '../../model/summary';
import { inWords } from '../../model/told';
import { ProblemNotice } from '../../ui/problem';
import { SeriesTable } from './series-table';

// Asked for at once, beside the first picture, and not when it is first drawn.
const panelGrid = import('../../charts/panel-grid');
const PanelGrid = lazy(() => panelGrid);
const route = getRouteApi('/runs/$n');

/** The charts with their tools. */
export function Courses({ run, live }: { run: Run; live: Live }) {
  const [asTable, setAsTable] = useState(false);
  // Charts cost more than all else: the stream is opened and the figures stand before they are made.
  const drawing = useDeferredValue(true, false);
  useZoomInAddress(live.stage);
  const { view, whole, error } = useSeries(run, live);
  const { resolved, rw } = run;
  const host = useFromStage(live.stage, () => live.fold.accepted?.host) ?? run.host_facts ?? undefined;
  const panels = useMemo(() => panelsOf(directionsOf({ resolved, rw }), host), [resolved, rw, host]);
  return (
    <section className="stack" aria-label="Course over time">
      <Tools stage={live.stage} asTable={asTable} setAsTable={setAsTable} />
      {error ? <ProblemNotice problem={inWords(error)} /> : null}
      {asTable && <SeriesTable view={view} panels={panels} stage={live.stage} />}
      {!asTable && (
        <Suspense fallback={<ChartsToCome />}>
          {drawing ? (
            <PanelGrid
              panels={panels}
              view={view}
              stage={live.stage}
              whole={whole}
              elsewhere="“Show as table” has the same numbers"
            />
          ) : (
            <ChartsToCome />
          )}
        </Suspense>
      )}
    </section>
  );
}

/** Holds the place, so that nothing jumps. */
const ChartsToCome = () => <div className="charts" style={{ minHeight: 640 }} />;

/** Where the points come from, and the stretch of all of them. */
function useSeries(run: Run, { fold, bucketed, stage }: Live): { view: SeriesView; whole: () => Range; error: unknown } {
  const version = useTick(bucketed ? stage : NO_STAGE);
  const zoom = bucketed && version >= 0 ? stage.zoom : null;
  const range = zoom ? { from_ms: Math.round(zoom.from * 1000), to_ms: Math.round(zoom.to * 1000) } : {};
  const { data, error } = useQuery({ ...seriesQuery(run.number, range, MAX_POINTS), enabled: bucketed });
  const view = useMemo(() => (data ? seriesOfBuckets(data) : seriesOfFold(fold)), [data, fold]);
  const end = (run.report?.duration_ms ?? 0) / 1000;
  const whole = useCallback(() => (bucketed ? { from: 0, to: end } : spanOf(fold)), [bucketed, end, fold]);
  return { view, whole, error };
}

/** Subscribes to nothing: a live course must not render this part at every flush. */
const NO_STAGE = { onFlush: () => () => undefined, version: 0 } as unknown as Stage;

/** Keeps the zoomed stretch in the address, so that a link shows what its sender saw. */
function useZoomInAddress(stage: Stage) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  useEffect(() => {
    const wanted = from && to ? { from: Number(from), to: Number(to) } : null;
    if (wanted && wanted.to > wanted.from && stage.zoom?.from !== wanted.from) stage.zoomTo(wanted);
  }, [from, to, stage]);
  useEffect(
    () =>
      stage.onFlush(() => {
        const next = stage.zoom ? { from: stage.zoom.from.toFixed(2), to: stage.zoom.to.toFixed(2) } : {};
        const current = new URLSearchParams(window.location.search);
        if ((current.get('from') ?? undefined) !== next.from || (current.get('to') ?? undefined) !== next.to)
          void navigate({ search: next, replace: true });
      }),
    [stage, navigate],
  );
}

function Tools({ stage, asTable, setAsTable }: { stage: Stage; asTable: boolean; setAsTable: (on: boolean) => void }) {
  useTick(stage);
  return (
    <ZoomRow stage={stage}>
      <Button
        data-key="p"
        data-does="pause or resume drawing"
        aria-pressed={stage.paused}
        onClick={() => stage.pause(!stage.paused)}
      >
        {stage.paused ? 'Resume' : 'Pause'}
      </Button>
      <Button data-key="t" data-does="charts or table" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
        {asTable ? 'Show as charts' : 'Show as table'}
      </Button>
    </ZoomRow>
  );
}
