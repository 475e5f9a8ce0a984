// A run's state, folded from its events. Live and stored runs use the same fold. It is
// independent of React and is updated in place, up to ten times a second. Events are received in
// `api/run-stream`; charts are redrawn in `charts/use-live-run`.
import type {
  Accepted,
  Event,
  Failure,
  Gauge,
  Phase,
  PhaseChange,
  ResolvedJob,
  Run,
  RunResult,
  RunStatus,
  SteadyStateProgress,
} from '../../api';
import { MAX_POINTS, TimeSeries } from '../series/time-series';
import { type SampleEvent, toWindow } from '../series/window';
import { Silences } from './silences';
import { Totals } from './totals';

/** A started phase. */
export interface PhaseProgress extends Omit<PhaseChange, 'state'> {
  phase: Phase;
  /** Milliseconds since the start of the run. */
  begin_ms: number;
  /** End of the phase; null while it is active. */
  end_ms: number | null;
}

const FINAL: readonly RunStatus[] = ['done', 'failed', 'cancelled', 'interrupted'];

/** Time until the first job starts measuring, in ms. */
export const rampOf = (jobs: readonly ResolvedJob[]): number =>
  jobs.length > 0
    ? Math.min(...jobs.map(({ startdelay_ms, ramp_ms }) => startdelay_ms + ramp_ms))
    : 0;

/** Returns true if the state is final. */
export const isFinal = (status: RunStatus): boolean => FINAL.includes(status);

export class RunFold {
  status: RunStatus;
  reason: string | null = null;
  /** Sequence number of the last event; -1 before the first. */
  lastSeq = -1;
  /** `t_ms` of the last event. */
  now_ms = 0;
  accepted: Accepted | null = null;
  phases: PhaseProgress[] = [];
  series = new TimeSeries();
  totals = new Totals();
  silences = new Silences();
  /**
   * Each `steadystate` job's last steady state, by job index, and the time of its sample.
   */
  steadyStates = new Map<number, SteadyStateProgress & { t_ms: number }>();
  /** The latest sample's gauge in the measurement phase. */
  gauge: Gauge | null = null;
  result: RunResult | null = null;
  failure: Failure | null = null;

  constructor(status: RunStatus = 'queued') {
    this.status = status;
  }

  /** Applies the next event, ignoring duplicates. Returns false if an earlier event is missing. */
  apply(event: Event): boolean {
    if (event.seq !== this.lastSeq + 1) return event.seq <= this.lastSeq;
    this.lastSeq = event.seq;
    this.now_ms = Math.max(this.now_ms, event.t_ms);
    this.fold(event);
    return true;
  }

  /** Start of the measurement, in ms since the start of the run; null before it starts. */
  get measure_begin_ms(): number | null {
    return this.phases.find(({ phase }) => phase === 'measure')?.begin_ms ?? null;
  }

  private fold(event: Event) {
    switch (event.type) {
      case 'sample':
        return this.foldSample(event);
      case 'phase':
        return this.foldPhase(event, event.t_ms);
      case 'status':
        this.status = event.status;
        this.reason = event.reason ?? null;
        return;
      case 'accepted':
        this.accepted = event;
        return;
      case 'report':
        this.result = event;
        return;
      default:
        this.failure = event;
    }
  }

  private foldSample(event: SampleEvent) {
    const window = toWindow(event);
    this.series.add(window);
    this.silences.add(event.t_ms, event.silent_ms ?? 0, this.totals);
    for (const state of event.steady_states ?? [])
      this.steadyStates.set(state.job, { ...state, t_ms: event.t_ms });
    if (window.phase !== 'measure') return;
    this.totals.add(window);
    this.gauge = event.gauge ?? this.gauge;
  }

  private foldPhase({ state, ...change }: PhaseChange, t_ms: number) {
    const end_ms = state === 'end' ? t_ms : null;
    const active = this.phases.findLast(
      ({ phase, end_ms }) => phase === change.phase && end_ms === null,
    );
    if (state === 'begin' || !active) this.phases.push({ ...change, begin_ms: t_ms, end_ms });
    else Object.assign(active, omitNulls(change), { end_ms });
  }
}

function omitNulls<T extends object>(value: T): Partial<T> {
  const known = Object.entries(value).filter(([, v]) => v !== null && v !== undefined);
  return Object.fromEntries(known) as Partial<T>;
}

/**
 * Returns true if a finished run has a report and too many samples to fold. Its series is then
 * loaded from the server, in buckets.
 */
export const isBucketed = (run: Run): boolean =>
  isFinal(run.status) && Boolean(run.report) && run.samples > MAX_POINTS;

/** A finished run's fold, without samples. */
export function foldFinishedRun(run: Run): RunFold {
  const fold = new RunFold(run.status);
  fold.reason = run.reason ?? null;
  fold.failure = run.failure ?? null;
  if (!run.report) return fold;
  fold.result = { report: run.report, verdict: run.verdict ?? {}, findings: run.findings };
  fold.phases = run.report.phases.map(({ phase, start_ms, duration_ms, bytes }) => ({
    phase,
    begin_ms: start_ms,
    end_ms: start_ms + duration_ms,
    done_bytes: bytes,
    total_bytes: bytes,
  }));
  return fold;
}
