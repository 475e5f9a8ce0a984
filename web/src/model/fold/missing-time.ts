// Chart marks for a run: changes in the IOPS level, and periods without completions. The periods
// come from the samples while the run is live, and from its report after that.
import type { LevelChange, Report } from '../../api';
import { count } from '../format/numbers';
import { duration } from '../format/time';
import { isFinal, type RunFold } from './run-fold';
import { originMs } from './series-view';
import { mergeSpans, type TimeSpanMs } from './silences';

/** Minimum time without completions after which a notice is shown. */
const MIN_NOTICE_MS = 2000;

/** Time since a live run's last completion, in ms; null if it is short. */
export function silenceMs({ silences, status, result }: RunFold): number | null {
  const isLive = !isFinal(status) && !result;
  return isLive && silences.silent_ms >= MIN_NOTICE_MS ? silences.silent_ms : null;
}

/** A labeled range of the time axis, in seconds since the start of the measurement. */
export interface Band {
  kind: 'stall' | 'pause' | 'window' | 'change';
  label: string;
  /** Label for narrow bands. */
  short: string;
  from: number;
  to: number;
  /** Key of the only chart that shows the band. If undefined, all charts show it. */
  panel?: string;
}

export function toBands(fold: RunFold): Band[] {
  const report = fold.result?.report;
  const origin_ms = originMs(fold);
  const band = (kind: Band['kind'], label: string, short: string) => (span: TimeSpanMs) => ({
    kind,
    label: `${label} ${duration(span.end_ms - span.start_ms)}`,
    short,
    from: (span.start_ms - origin_ms) / 1000,
    to: (span.end_ms - origin_ms) / 1000,
  });
  const stalls = report ? stallsOf(report) : fold.silences.spans;
  return [
    ...stalls.map(band('stall', 'No I/O completed for', 'Stalled')),
    ...pausesOf(report).map(band('pause', 'Runner paused for', 'Paused')),
    ...(report?.level_changes ?? []).map((change) => changeBand(change, origin_ms)),
  ];
}

/** A line at the time of the change. */
function changeBand(change: LevelChange, origin_ms: number): Band {
  const { t_ms, direction, before_iops, after_iops } = change;
  const at = (t_ms - origin_ms) / 1000;
  const rates = `${count(before_iops)} → ${count(after_iops)} IOPS`;
  const label = `${direction === 'read' ? 'Reads' : 'Writes'}: ${rates}`;
  return { kind: 'change', label, short: 'Level', from: at, to: at };
}

const spanOf = ({ start_ms, duration_ms }: { start_ms: number; duration_ms: number }) => ({
  start_ms,
  end_ms: start_ms + duration_ms,
});

/** Stalls of all jobs, merged. */
const stallsOf = ({ jobs }: Report) =>
  mergeSpans(jobs.flatMap(({ stalls }) => stalls?.spans ?? []).map(spanOf));

/** Runs that were recorded before pauses were detected have no pauses. */
const pausesOf = (report: Report | undefined) => (report?.pauses ?? []).map(spanOf);
