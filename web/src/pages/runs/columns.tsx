// Columns of the run table: title, width, cell, and sort key on the server.
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import type { RunSort, RunSummary } from '../../api';
import { VerdictBadge } from '../../charts/verdict-badge';
import { fioRate, latency, rate, shortCount, text, UNKNOWN } from '../../model/format/numbers';
import { dateTime, shortDateTime } from '../../model/format/time';
import { tagTerm } from '../../model/run/filter';
import {
  isActive,
  isImported,
  isPartial,
  runTitle,
  STATUS,
  sourceHint,
  sourceLabel,
  studyTitle,
} from '../../model/run/summary';
import { badgeOf } from '../../model/run/verdict';
import { Badge } from '../../ui/parts';
import { RunLink } from '../../ui/run-links';
import { StatusDot } from '../../ui/status';
import { Age } from './age';

export interface RunColumn {
  key: string;
  title: string;
  /** Width in pixels. 0 takes the remaining space. */
  width: number;
  /** Width in pixels in a table with few columns, which must fit on a phone. */
  shortWidth?: number;
  numeric?: boolean;
  sort?: RunSort;
  /** Hidden by default. */
  optional?: boolean;
  cell: (run: RunSummary) => ReactNode;
  /** Tooltip with the full text. */
  hint?: (run: RunSummary) => string;
}

const DAMAGED_HINT = 'The stored run or its result does not match its checksum.';
const PARTIAL_HINT = 'The run did not complete. Results cover only the time until it ended.';

function Verdict({ run }: { run: RunSummary }) {
  if (run.damaged)
    return (
      <Badge tone="bad" title={DAMAGED_HINT}>
        Damaged
      </Badge>
    );
  if (isImported(run)) return <Badge title={sourceHint(run)}>{sourceLabel(run)}</Badge>;
  if (!run.verdict_class && isPartial(run)) return <Badge title={PARTIAL_HINT}>Partial</Badge>;
  if (!run.verdict_class) return <span className="mute">{UNKNOWN}</span>;
  return <VerdictBadge badge={badgeOf(run.verdict_class)} />;
}

/**
 * If a study run's title is too long, the study name is clipped first. The repeat is never
 * clipped.
 */
function Name({ run }: { run: RunSummary }) {
  const parts = studyTitle(run);
  return (
    <RunLink n={run.number} className={`name ${parts ? 'of-study' : 'clip'}`}>
      {parts ? (
        <>
          <span className="clip">{parts.study}</span>
          <span className="clip step">{parts.step}</span>
          <span>{parts.repeat}</span>
        </>
      ) : (
        runTitle(run)
      )}
    </RunLink>
  );
}

/** Each tag links to the list of runs with that tag. */
function Tags({ tags }: { tags: readonly string[] }) {
  return tags.map((tag, index) => (
    <Fragment key={tag}>
      {index > 0 && ', '}
      <Link to="/runs" search={{ q: tagTerm(tag) }}>
        {tag}
      </Link>
    </Fragment>
  ));
}

const statusHint = ({ reason, queue }: RunSummary) =>
  reason ?? (queue ? `Position ${queue.position} in the queue: ${queue.reason}` : '');

const mono = (value: ReactNode) => <span className="mono">{value}</span>;

const latencyColumn = (key: string, title: string, field: LatencyField): RunColumn => ({
  key,
  title,
  width: 78,
  numeric: true,
  cell: (run) => text(latency(run[field])),
});
type LatencyField = 'lat_p50_ns' | 'lat_p99_ns' | 'lat_max_ns';

/** All columns, in display order. */
export const COLUMNS: readonly RunColumn[] = [
  {
    key: 'number',
    title: '#',
    width: 56,
    shortWidth: 44,
    numeric: true,
    sort: 'number',
    cell: (run) => run.number,
  },
  {
    key: 'name',
    title: 'Name',
    width: 0,
    sort: 'name',
    cell: (run) => <Name run={run} />,
    hint: runTitle,
  },
  {
    key: 'status',
    title: 'Status',
    width: 98,
    cell: (run) => <StatusDot status={STATUS[run.status]} />,
    hint: statusHint,
  },
  {
    key: 'verdict',
    title: 'Verdict',
    width: 120,
    shortWidth: 112,
    cell: (run) => <Verdict run={run} />,
  },
  { key: 'host', title: 'Host', width: 80, optional: true, cell: (run) => run.host ?? UNKNOWN },
  {
    key: 'target',
    title: 'Target',
    width: 112,
    cell: (run) => mono(run.target.split('/').at(-1)),
    hint: (run) => run.target,
  },
  {
    key: 'device',
    title: 'Device',
    width: 80,
    optional: true,
    cell: (run) => run.device ?? UNKNOWN,
  },
  { key: 'mode', title: 'Mode', width: 72, cell: (run) => run.mode ?? UNKNOWN },
  { key: 'rw', title: 'rw', width: 88, cell: (run) => mono(run.rw) },
  {
    key: 'bs',
    title: 'bs',
    width: 62,
    numeric: true,
    cell: (run) => mono(run.bs),
    hint: (run) => run.bs,
  },
  { key: 'depth', title: 'Depth', width: 58, numeric: true, cell: (run) => run.iodepth },
  { key: 'jobs', title: 'Jobs', width: 48, numeric: true, cell: (run) => run.numjobs },
  {
    key: 'iops',
    title: 'IOPS',
    width: 76,
    shortWidth: 66,
    numeric: true,
    sort: 'iops',
    cell: (run) => <b>{text(shortCount(run.iops))}</b>,
  },
  {
    key: 'bandwidth',
    title: 'Bandwidth',
    width: 102,
    numeric: true,
    sort: 'bytes_per_second',
    cell: (run) => text(rate(run.bytes_per_second)),
    hint: (run) => fioRate(run.bytes_per_second),
  },
  { ...latencyColumn('p50', 'p50', 'lat_p50_ns'), optional: true },
  { ...latencyColumn('p99', 'p99', 'lat_p99_ns'), sort: 'lat_p99_ns' },
  { ...latencyColumn('max', 'Max', 'lat_max_ns'), optional: true },
  {
    key: 'tags',
    title: 'Tags',
    width: 90,
    cell: (run) => <Tags tags={run.tags} />,
    hint: (run) => run.tags.join(', '),
  },
  {
    key: 'when',
    title: 'Created',
    width: 96,
    numeric: true,
    sort: 'created_at_ms',
    cell: (run) =>
      isActive(run) ? <Age since_ms={run.created_at_ms} /> : shortDateTime(run.created_at_ms),
    hint: (run) => dateTime(run.created_at_ms),
  },
];

/** Default columns on narrow screens, such as phones. */
export const NARROW_COLUMNS: readonly string[] = ['number', 'name', 'iops', 'verdict'];

/** Default columns on tablets and in small windows. */
export const MEDIUM_COLUMNS: readonly string[] = [
  ...['number', 'name', 'status', 'verdict', 'rw', 'bs'],
  ...['iops', 'bandwidth', 'p99', 'when'],
];

export const DEFAULT_COLUMNS: readonly string[] = COLUMNS.filter(({ optional }) => !optional).map(
  ({ key }) => key,
);
