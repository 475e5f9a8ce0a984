// One run, live or finished: both render the same fold.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Run } from '../../api';
import { runQuery } from '../../api/queries';
import { type LiveRun, useLiveRun, useLiveValue } from '../../charts/use-live-run';
import { isFinal } from '../../model/fold/run-fold';
import { isForeign, runTitle } from '../../model/run/summary';
import { isValidNumber, NotLoaded } from '../../ui/not-loaded';
import { Card, Page } from '../../ui/parts';
import { Annotations } from './annotations';
import { CpuProfile } from './cpu-profile';
import { Details } from './details';
import { FindingList } from './findings';
import { GaugeCard } from './gauge-card';
import { RunHeader } from './header';
import { Latency } from './latency';
import { LiveRegion } from './live-region';
import { Phases } from './phases';
import { DamagedNotice, RunNotices } from './run-notices';
import { SteadyStates } from './steady-state';
import { Targets } from './targets';
import { Tiles } from './tiles';
import { TimeSeries } from './time-series';
import { useTabTitle } from './use-tab-title';
import { Verified } from './verified';
import './run.css';

const route = getRouteApi('/runs/$n');

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
          <Details run={run} live={live} />
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

/** A run that only checks written blocks. */
const isUnmeasured = ({ resolved }: Run) =>
  !!resolved?.length && resolved.every((job) => job.verify?.only);

function ForeignTimeSeries({ run }: { run: Run }) {
  return (
    <Card title="Time series">
      <p className="mute">
        Not available: results {run.source === 'fio' ? 'of fio' : "in fio's format"} contain no
        samples.
      </p>
    </Card>
  );
}

/** A run that failed before its first sample has only details. */
function Results({ run, live }: { run: Run; live: LiveRun }) {
  const { fold, bucketed } = live;
  const isEmpty = useLiveValue(
    live.chartGroup,
    () => isFinal(fold.status) && !bucketed && !fold.result && fold.series.points.length === 0,
  );
  const isLoading = useLiveValue(live.chartGroup, () => !bucketed && fold.lastSeq < 0);
  if (isEmpty)
    return (
      <>
        {isLoading && <p className="mute">Loading results…</p>}
        <Details run={run} live={live} />
      </>
    );
  if (isUnmeasured(run))
    return (
      <>
        <Verified live={live} />
        <FindingList run={run} live={live} />
        <Details run={run} live={live} />
      </>
    );
  return (
    <div className="run-grid">
      <GaugeCard run={run} live={live} />
      <div className="stack">
        <Tiles live={live} />
        <SteadyStates live={live} />
        {isForeign(run) ? (
          <ForeignTimeSeries run={run} />
        ) : (
          <>
            <TimeSeries run={run} live={live} />
            <Annotations run={run} live={live} />
          </>
        )}
        <FindingList run={run} live={live} />
        <Verified live={live} />
        <Targets live={live} />
        <CpuProfile run={run} live={live} />
        <Latency live={live} />
        <Details run={run} live={live} />
      </div>
    </div>
  );
}
