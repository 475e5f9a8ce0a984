// The one fold of a run's events. Live or stored, early or resumed, every run becomes what is on screen by applying its
// events in order; nothing is drawn from anywhere else. It is kept outside React and changed in place, ten times a
// second. Not here: where events come from, and when the screen is told.
import type {
  Accepted,
  Event,
  Failure,
  Phase,
  PhaseChange,
  ResolvedJob,
  Run,
  RunResult,
  RunStatus,
} from '../../api';
import { MAX_POINTS, TimeSeries } from '../series/time-series';
import { type SampleEvent, windowOf } from '../series/window';
import { Totals } from './totals';

/** How far one phase is. */
export interface PhaseProgress extends Omit<PhaseChange, 'state'> {
  phase: Phase;
  /** Milliseconds since the run began on the host. */
  begin_ms: number;
  /** Null while it lasts. */
  end_ms: number | null;
}

const FINAL: readonly RunStatus[] = ['done', 'failed', 'cancelled', 'interrupted'];

/** The ramp of a run, in ms: until the first of its jobs is measured. */
export const rampOf = (jobs: readonly ResolvedJob[]): number =>
  jobs.length > 0
    ? Math.min(...jobs.map(({ startdelay_ms, ramp_ms }) => startdelay_ms + ramp_ms))
    : 0;

/** Whether nothing can come after a status. */
export const isFinal = (status: RunStatus): boolean => FINAL.includes(status);

/** A run as its events told it so far. */
export class RunFold {
  status: RunStatus;
  reason: string | null = null;
  /** Number of the last event that was folded; -1 before the first. */
  lastSeq = -1;
  /** `t_ms` of the last event: the run's own clock. */
  now_ms = 0;
  accepted: Accepted | null = null;
  phases: PhaseProgress[] = [];
  series = new TimeSeries();
  totals = new Totals();
  result: RunResult | null = null;
  failure: Failure | null = null;

  constructor(status: RunStatus = 'queued') {
    this.status = status;
  }

  /** Folds the next event. False when it is not the next one: a duplicate is ignored, a gap must be filled first. */
  apply(event: Event): boolean {
    if (event.seq !== this.lastSeq + 1) return event.seq <= this.lastSeq;
    this.lastSeq = event.seq;
    this.now_ms = Math.max(this.now_ms, event.t_ms);
    this.fold(event);
    return true;
  }

  /** Where the measured window begins, in ms since the run began on the host; null before it does. */
  get measure_begin_ms(): number | null {
    return this.phases.find(({ phase }) => phase === 'measure')?.begin_ms ?? null;
  }

  private fold(event: Event) {
    if (event.type === 'sample') this.foldSample(event);
    else if (event.type === 'phase') this.foldPhase(event, event.t_ms);
    else if (event.type === 'status') {
      this.status = event.status;
      this.reason = event.reason ?? null;
    } else if (event.type === 'accepted') this.accepted = event;
    else if (event.type === 'report') this.result = event;
    else this.failure = event;
  }

  private foldSample(event: SampleEvent) {
    const window = windowOf(event);
    this.series.add(window);
    if (window.phase === 'measure') this.totals.add(window);
  }

  private foldPhase({ state, ...change }: PhaseChange, t_ms: number) {
    const open = this.phases.findLast(
      ({ phase, end_ms }) => phase === change.phase && end_ms === null,
    );
    if (state === 'begin' || !open)
      this.phases.push({ ...change, begin_ms: t_ms, end_ms: state === 'end' ? t_ms : null });
    else Object.assign(open, withoutNulls(change), { end_ms: state === 'end' ? t_ms : null });
  }
}

function withoutNulls<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(value).filter(([, v]) => v !== null && v !== undefined),
  ) as Partial<T>;
}

/**
 * Whether a run need not be folded: its report is there, and its course is so long that the server sends it in buckets.
 * Where no report came, its events are all there is.
 */
export const isBucketed = (run: Run): boolean =>
  isFinal(run.status) && Boolean(run.report) && run.samples > MAX_POINTS;

/** A finished run without its samples: for runs that come in buckets. */
export function foldFinishedRun(run: Run): RunFold {
  const fold = new RunFold(run.status);
  fold.reason = run.reason ?? null;
  fold.failure = run.failure ?? null;
  if (run.report)
    fold.result = { report: run.report, verdict: run.verdict ?? {}, findings: run.findings };
  fold.phases = (run.report?.phases ?? []).map(({ phase, start_ms, duration_ms, bytes }) => ({
    phase,
    begin_ms: start_ms,
    end_ms: start_ms + duration_ms,
    done_bytes: bytes,
    total_bytes: bytes,
  }));
  return fold;
}
