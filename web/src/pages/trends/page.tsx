// List of trends: every test that ran on a machine. Trends with the most recent runs come first.
import { useInfiniteQuery } from '@tanstack/react-query';
import type { TrendSeries } from '../../api';
import { trendsQuery } from '../../api/queries';
import { count, plural, UNKNOWN } from '../../model/format/numbers';
import { dateTime, shortDateTime } from '../../model/format/time';
import { describeRun, testTitle } from '../../model/run/summary';
import { STATES } from '../../model/trend/text';
import { LinkButton } from '../../ui/link-button';
import { LoadMore } from '../../ui/load-more';
import { NamedRows } from '../../ui/named-rows';
import { Badge, Card, Empty, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { TrendLink } from '../../ui/run-links';
import './trends.css';

const HEADERS = ['Machine', 'State', 'Runs', 'Newest'];

export function TrendsPage() {
  const query = useInfiniteQuery(trendsQuery);
  const pages = query.data?.pages ?? [];
  const series = pages.flatMap((page) => page.series);
  const pending = pages[0]?.pending_runs ?? 0;
  return (
    <Page title="Trends" className="trends">
      <div className="row">
        <h1>Trends</h1>
        {query.isSuccess && <span className="mute">{count(pages[0]?.total)}</span>}
      </div>
      <ProblemNotice error={query.error} retry={query.refetch} />
      {pending > 0 && (
        <p className="mute">
          {plural(pending, 'run')} not included yet. They are added while no run is active.
        </p>
      )}
      {query.isSuccess && series.length === 0 && <NoTrends />}
      {series.length > 0 && (
        <Card>
          <NamedRows
            className="trend-list"
            label="Trends"
            corner="Test"
            headers={HEADERS}
            rows={series.map(rowOf)}
          />
          <LoadMore query={query} />
        </Card>
      )}
    </Page>
  );
}

function NoTrends() {
  return (
    <Empty
      title="No trends yet"
      actions={
        <LinkButton to="/new" variant="filled" h={36}>
          New run
        </LinkButton>
      }
    >
      A trend shows the results of the same test on the same machine over time, with changes to the
      kernel and to other host facts. It appears after the first run. Repeat a test in a study to
      get intervals.
    </Empty>
  );
}

function rowOf(series: TrendSeries) {
  const { newest_run: run, state } = series;
  const started_at_ms = run.started_at_ms ?? run.created_at_ms;
  return {
    key: `${series.job_fingerprint} ${series.machine_fingerprint}`,
    name: (
      <>
        <TrendLink job={series.job_fingerprint} machine={series.machine_fingerprint}>
          {testTitle(run)}
        </TrendLink>
        <div className="mono mute small">{describeRun(run)}</div>
      </>
    ),
    cells: [
      series.hostname ?? UNKNOWN,
      state ? (
        <Badge key="state" tone={STATES[state.state].tone} title={state.reason}>
          {STATES[state.state].label}
        </Badge>
      ) : (
        <span key="state" className="mute nowrap">
          No baseline
        </span>
      ),
      count(series.runs),
      <span key="newest" title={dateTime(started_at_ms)}>
        {shortDateTime(started_at_ms)}
      </span>,
    ],
  };
}
