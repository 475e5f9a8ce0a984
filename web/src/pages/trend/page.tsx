// One test on one machine over time: its state relative to the baseline, a metric for each group,
// and a list of changes. Metric, range and selected group are in the URL.
import { NativeSelect, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Trend } from '../../api';
import { trendQuery } from '../../api/queries';
import { TrendChart } from '../../charts/trend-chart';
import { countDirections, metricLabel } from '../../model/compare/metrics';
import { plural } from '../../model/format/numbers';
import { dateTime, shortDateTime } from '../../model/format/time';
import { describeRun, testTitle } from '../../model/run/summary';
import { exclusionText, pointText } from '../../model/trend/text';
import { Card, Empty, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { Events } from './events';
import { Group } from './group';
import { StateNotice } from './state-notice';
import '../../ui/fields.css';
import './trend.css';

const route = getRouteApi('/trends/$job/$machine');

const RANGES = [
  { value: '30', label: 'Last 30' },
  { value: '100', label: 'Last 100' },
  { value: 'all', label: 'All' },
];

export function TrendPage() {
  const { job, machine } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const metric = search.metric as Trend['metric'] | undefined;
  const { data, error, refetch } = useQuery(trendQuery(job, machine, { metric }));
  const change = (values: Partial<typeof search>) =>
    void navigate({
      search: (old) => ({ ...old, ...values }),
      replace: true,
      resetScroll: false,
    });
  if (!data)
    return (
      <Page title="Trend">
        <h1>Trend</h1>
        <ProblemNotice error={error} retry={refetch} />
      </Page>
    );
  const title = testTitle(data.newest_run);
  return (
    <Page title={`Trend of ${title}`} className="trend">
      <Header trend={data} />
      <ProblemNotice error={error} retry={refetch} />
      <StateNotice trend={data} />
      <TrendView
        key={`${job} ${machine}`}
        trend={data}
        last={search.last}
        run={Number(search.run)}
        onLast={(last) => change({ last })}
        onMetric={(name) => change({ metric: name })}
        onRun={(run) => change({ run })}
      />
    </Page>
  );
}

function Header({ trend }: { trend: Trend }) {
  const { newest_run: run, hostname, runs, points } = trend;
  const newest_ms = run.started_at_ms ?? run.created_at_ms;
  return (
    <div>
      <div className="row nowrap top">
        <h1 className="breaks">{testTitle(run)}</h1>
        <Link to="/trends" className="push all-trends">
          All trends
        </Link>
      </div>
      <p className="mono mute breaks" style={{ marginTop: 2 }}>
        {[hostname, describeRun(run)].filter(Boolean).join(' · ')}
      </p>
      <p className="mute small">
        {plural(runs, 'run')} in {plural(points.length, 'group')}
        <span title={dateTime(newest_ms)}>, newest {shortDateTime(newest_ms)}</span>
      </p>
    </div>
  );
}

interface TrendViewProps {
  trend: Trend;
  last: string | undefined;
  /** Number of a run in the selected group; NaN for the newest group. */
  run: number;
  onLast: (last: string | undefined) => void;
  onMetric: (metric: string) => void;
  onRun: (run: string) => void;
}

function TrendView({ trend, last, run, onLast, onMetric, onRun }: TrendViewProps) {
  const { points, metrics } = trend;
  const [hovered, setHovered] = useState<number | null>(null);
  const shown = Number(last) > 0 ? Number(last) : points.length;
  const first = Math.max(0, points.length - shown);
  const found = points.findIndex((point) => runsOf(point).includes(run));
  const selected = Math.max(first, found >= 0 ? found : points.length - 1);
  const point = points[selected];
  const select = (index: number) => {
    const [number] = points[index] ? runsOf(points[index]) : [];
    if (number) onRun(String(number));
  };
  if (!point)
    return (
      <Empty title="No groups yet">The runs in this series are still active or were deleted.</Empty>
    );
  const names = metrics.map((name) => ({ name }));
  const directions = countDirections(names);
  const nameOf = (name: Trend['metric']) => metricLabel(name, directions);
  const readout = points[hovered ?? selected] ?? point;
  return (
    <>
      <Card
        className="trend-card"
        title={
          <NativeSelect
            aria-label="Metric"
            value={trend.metric}
            onChange={({ currentTarget }) => onMetric(currentTarget.value)}
            data={metrics.map((name) => ({ value: name, label: nameOf(name) }))}
          />
        }
        aside={
          points.length > Number(RANGES[0]?.value) && (
            <SegmentedControl
              size="xs"
              aria-label="Groups shown"
              value={last ?? 'all'}
              onChange={(value) => onLast(value === 'all' ? undefined : value)}
              data={RANGES}
            />
          )
        }
      >
        <p className="readout">{pointText(readout, trend)}</p>
        <TrendChart
          trend={trend}
          title={nameOf(trend.metric)}
          first={first}
          selected={selected}
          hovered={hovered}
          onSelect={select}
          onHover={setHovered}
        />
        <Notes trend={trend} />
      </Card>
      <div className="trend-details">
        <Group trend={trend} index={selected} />
        <Events trend={trend} onSelect={select} />
      </div>
    </>
  );
}

const runsOf = ({ runs, excluded }: Trend['points'][number]) => [
  ...runs,
  ...excluded.map(({ run }) => run),
];

/** Lists the runs and findings that the chart does not show. */
function Notes({ trend }: { trend: Trend }) {
  const { excluded, common_findings, older_runs } = trend;
  const notes = [
    excluded.length > 0 && `Excluded: ${exclusionText(excluded)}.`,
    common_findings.length > 0 &&
      `Most runs have the finding ${common_findings.join(', ')}, so they are included.`,
    older_runs > 0 && `${plural(older_runs, 'older run')} not shown.`,
  ];
  return (
    <p className="mute small notes">
      Median of each group with its 95 % interval; rings: disturbed runs; ticks: incomplete runs.{' '}
      {notes.filter(Boolean).join(' ')}
    </p>
  );
}
