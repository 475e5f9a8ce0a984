// The columns of the list as data: a heading, a width, what stands in a cell, and by what the server can sort.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RunSort, RunSummary } from '../../api';
import { VerdictBadge } from '../../charts/verdict-badge';
import {
  fioRate,
  latency,
  moment,
  rate,
  shortCount,
  shortMoment,
  text,
  UNKNOWN,
} from '../../model/format/numbers';
import { isActive, runTitle, STATUS } from '../../model/run/summary';
import { badgeOf } from '../../model/run/verdict';
import { StatusDot } from '../../ui/status';

/** One column. */
export interface RunColumn {
  key: string;
  title: string;
  /** Pixels; the column with 0 takes what is left. */
  width: number;
  numeric?: boolean;
  sort?: RunSort;
  /** Not shown until it is chosen. */
  optional?: boolean;
  cell: (run: RunSummary) => ReactNode;
  /** The cell in full, for what does not fit. */
  hint?: (run: RunSummary) => string;
}

function Verdict({ run }: { run: RunSummary }) {
  if (!run.verdict) return <span className="mute">{UNKNOWN}</span>;
  return <VerdictBadge badge={badgeOf(run.verdict)} />;
}

/** A step's name stays to be read where that of its study, which it shares with others, does not fit. */
function Name({ run }: { run: RunSummary }) {
  const title = runTitle(run);
  const cut = run.study ? title.indexOf(': ') : -1;
  return (
    <Link
      to="/runs/$n"
      params={{ n: String(run.number) }}
      className={`name ${cut > 0 ? 'of-study' : 'clip'}`}
    >
      {cut > 0 && <span className="clip">{title.slice(0, cut)}</span>}
      {cut > 0 ? <span className="clip step">{title.slice(cut)}</span> : title}
    </Link>
  );
}

const statusHint = (run: RunSummary) =>
  run.reason ?? (run.queue ? `${run.queue.position}. in the queue, ${run.queue.reason}` : '');

/** All columns, in the order in which they stand. */
export const COLUMNS: readonly RunColumn[] = [
  {
    key: 'number',
    title: '#',
    width: 56,
    numeric: true,
    sort: 'number',
    cell: (run) => run.number,
  },
  {
    key: 'name',
    title: 'name',
    width: 0,
    sort: 'name',
    cell: (run) => <Name run={run} />,
    hint: runTitle,
  },
  {
    key: 'status',
    title: 'status',
    width: 98,
    cell: (run) => <StatusDot standing={STATUS[run.status]} />,
    hint: statusHint,
  },
  { key: 'verdict', title: 'verdict', width: 120, cell: (run) => <Verdict run={run} /> },
  { key: 'host', title: 'host', width: 80, optional: true, cell: (run) => run.host },
  {
    key: 'target',
    title: 'target',
    width: 112,
    cell: (run) => <span className="mono">{run.target.split('/').at(-1)}</span>,
    hint: (run) => run.target,
  },
  {
    key: 'device',
    title: 'device',
    width: 80,
    optional: true,
    cell: (run) => run.device ?? UNKNOWN,
  },
  { key: 'mode', title: 'mode', width: 72, cell: (run) => run.mode ?? UNKNOWN },
  { key: 'rw', title: 'rw', width: 88, cell: (run) => <span className="mono">{run.rw}</span> },
  {
    key: 'bs',
    title: 'bs',
    width: 62,
    numeric: true,
    cell: (run) => <span className="mono">{run.bs}</span>,
    hint: (run) => run.bs,
  },
  { key: 'depth', title: 'depth', width: 54, numeric: true, cell: (run) => run.iodepth },
  { key: 'jobs', title: 'jobs', width: 46, numeric: true, cell: (run) => run.numjobs },
  {
    key: 'iops',
    title: 'IOPS',
    width: 76,
    numeric: true,
    sort: 'iops',
    cell: (run) => <b>{text(shortCount(run.iops))}</b>,
  },
  {
    key: 'bandwidth',
    title: 'bandwidth',
    width: 98,
    numeric: true,
    sort: 'bytes_per_second',
    cell: (run) => text(rate(run.bytes_per_second)),
    hint: (run) => fioRate(run.bytes_per_second),
  },
  {
    key: 'p50',
    title: 'p50',
    width: 78,
    numeric: true,
    optional: true,
    cell: (run) => text(latency(run.lat_p50_ns)),
  },
  {
    key: 'p99',
    title: 'p99',
    width: 78,
    numeric: true,
    sort: 'lat_p99_ns',
    cell: (run) => text(latency(run.lat_p99_ns)),
  },
  {
    key: 'max',
    title: 'max',
    width: 78,
    numeric: true,
    optional: true,
    cell: (run) => text(latency(run.lat_max_ns)),
  },
  {
    key: 'tags',
    title: 'tags',
    width: 90,
    cell: (run) => run.tags.join(', '),
    hint: (run) => run.tags.join(', '),
  },
  {
    key: 'when',
    title: 'when',
    width: 96,
    numeric: true,
    sort: 'created_at_ms',
    cell: (run) => (isActive(run) ? 'now' : shortMoment(run.created_at_ms)),
    hint: (run) => moment(run.created_at_ms),
  },
];

/** The columns that are shown until somebody chooses. */
export const DEFAULT_COLUMNS: readonly string[] = COLUMNS.filter((column) => !column.optional).map(
  ({ key }) => key,
);
