// Run page. Live and finished runs are rendered from the same fold.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useDeferredValue } from 'react';
import type { Run } from '../../api';
import { runQuery } from '../../api/queries';
import { type LiveRun, useLiveRun, useLiveValue } from '../../charts/use-live-run';
import { isFinal } from '../../model/fold/run-fold';
import { isWaiting } from '../../model/run/queue';
import { isImported, runTitle } from '../../model/run/summary';
import { isValidNumber, NotLoaded } from '../../ui/not-loaded';
import { Card, Page } from '../../ui/parts';
import { Annotations } from './annotations';
import { GaugeCard } from './gauge-card';
import { RunHeader } from './header';
import { LiveRegion } from './live-region';
import { Phases } from './phases';
import { DamagedNotice, RunNotices } from './run-notices';
import { SteadyStates } from './steady-state';
import { Tiles } from './tiles';
import { TimeSeries } from './time-series';
import { useTabTitle } from './use-tab-title';
import './run.css';

const route = getRouteApi('/runs/$n');
const Details = lazy(() => import('./details'));
const Evidence = lazy(() => import('./evidence'));
const Queued = lazy(() => import('./queued'));

export function RunPage() {
  const { n } = route.useParams();
  const query = useQuery({ ...runQuery(Number(n)), enabled: isValidNumber(n) });
  const run = query.data;
  if (run) return <RunView key={run.number} run={run} />;
  return <NotLoaded kind="Run" n={n} error={query.error} retry={query.refetch} />;
}

function RunView({ run }: { run: Run }) {
  const live = useLiveRun(run);
  useTabTitle(run, live);
  return (
    <Page title={`#${run.number} ${runTitle(run)}`}>
      <RunHeader run={run} live={live} />
      <LiveRegion run={run} live={live} />
      <Phases live={live} />
      {run.damaged ? (
        <>
          <DamagedNotice />
          <Suspense>
            <Details run={run} live={live} />
          </Suspense>
        </>
      ) : (
        <>
          <RunNotices run={run} live={live} />
          <Results run={run} live={live} />
        </>
      )}
    </Page>
  );
}

/** Returns true if the run only verifies blocks that an earlier run wrote. */
const isUnmeasured = ({ resolved }: Run) =>
  !!resolved?.length && resolved.every((job) => job.verify?.only);

function ImportedTimeSeries({ run }: { run: Run }) {
  return (
    <Card title="Time series">
      <p className="mute">
        Not available: {run.source === 'fio' ? 'fio results' : "results in fio's format"} contain no
        samples.
      </p>
    </Card>
  );
}

/** A run that failed before its first sample has details but no results. */
function Results({ run, live }: { run: Run; live: LiveRun }) {
  const { fold, bucketed, chartGroup } = live;
  const isEmpty = useLiveValue(
    chartGroup,
    () => isFinal(fold.status) && !bucketed && !fold.result && fold.series.points.length === 0,
  );
  const isLoading = useLiveValue(chartGroup, () => !bucketed && fold.lastSeq < 0);
  // Also show this while disconnected, because there is nothing else to show.
  const isShown = useDeferredValue(!isLoading || live.connection === 'lost', false);
  const status = useLiveValue(chartGroup, () => fold.status);
  const evidence = isShown && (
    <Suspense>
      <Evidence run={run} live={live} />
    </Suspense>
  );
  if (isWaiting({ ...run, status }))
    return (
      <>
        <Suspense>
          <Queued run={run} />
        </Suspense>
        {evidence}
      </>
    );
  if (isEmpty)
    return (
      <>
        {isLoading && <p className="mute">Loading results…</p>}
        {evidence}
      </>
    );
  if (isUnmeasured(run)) return evidence;
  return (
    <div className="run-grid">
      <GaugeCard run={run} live={live} />
      <div className="stack">
        <Tiles live={live} />
        <SteadyStates live={live} />
        {isImported(run) ? (
          <ImportedTimeSeries run={run} />
        ) : (
          <>
            <TimeSeries run={run} live={live} />
            <Annotations run={run} live={live} />
          </>
        )}
        {evidence}
      </div>
    </div>
  );
}
