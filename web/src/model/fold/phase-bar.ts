// The phase bar: what a run has done, does and will do, with how far it is and how long it will still take. Phases to
// come are what the resolved jobs make necessary; once a run is over only what happened is shown.
import type { Phase, ResolvedJob } from '../../api';
import { bytes, duration, text } from '../format/numbers';
import { directionsOf } from '../run/summary';
import { isFinal, type PhaseProgress, type RunFold, rampOf } from './run-fold';

/** One part of the bar. */
export interface PhasePart {
  phase: Phase;
  label: string;
  state: 'done' | 'now' | 'next';
  /** From 0 to 1; null when it is not known how far it is. */
  fraction: number | null;
}

/** In the order in which the runner takes them: a missing file is laid out before the guard opens it. */
const NAMES: Record<Phase, string> = {
  layout: 'layout',
  guard: 'guard',
  drop_caches: 'drop caches',
  invalidate: 'invalidate',
  pre_read: 'pre-read',
  ramp: 'ramp',
  measure: 'measure',
  flush: 'flush',
  clean_up: 'clean up',
};
const ORDER = Object.keys(NAMES) as Phase[];

/** The parts of the bar. `now_ms`: milliseconds since the run began on the host. */
export function phaseBar(fold: RunFold, now_ms: number): PhasePart[] {
  const over = isFinal(fold.status);
  const seen = fold.phases.map((progress) =>
    partOf(progress, now_ms, over, plannedOf(progress, fold)),
  );
  if (over) return seen;
  const last = Math.max(-1, ...fold.phases.map(({ phase }) => ORDER.indexOf(phase)));
  const due = fold.accepted ? dueFor(fold.accepted.jobs) : (['guard', 'measure'] as Phase[]);
  const coming = due.filter((phase) => ORDER.indexOf(phase) > last);
  return [
    ...seen,
    ...coming.map((phase) => ({
      phase,
      label: NAMES[phase],
      state: 'next' as const,
      fraction: null,
    })),
  ];
}

function dueFor(jobs: readonly ResolvedJob[]): Phase[] {
  const any = (test: (job: ResolvedJob) => boolean) => jobs.some(test);
  const due: [Phase, boolean][] = [
    ['layout', any((job) => job.targets.some((target) => target.layout_bytes > 0))],
    ['guard', true],
    ['drop_caches', any((job) => job.drop_caches)],
    ['invalidate', any((job) => job.invalidate && !job.pre_read)],
    ['pre_read', any((job) => job.pre_read)],
    ['ramp', rampOf(jobs) > 0],
    ['measure', true],
    ['flush', directionsOf({ resolved: jobs.filter((job) => job.end_fsync), rw: '' }).writes],
    ['clean_up', any((job) => job.unlink)],
  ];
  return due.filter(([, needed]) => needed).map(([phase]) => phase);
}

function plannedOf({ phase, planned_ms }: PhaseProgress, { accepted }: RunFold): number | null {
  if (planned_ms || !accepted) return planned_ms ?? null;
  if (phase === 'ramp') return rampOf(accepted.jobs);
  return phase === 'measure' ? (accepted.measure_ms ?? null) : null;
}

function partOf(
  progress: PhaseProgress,
  now_ms: number,
  over: boolean,
  planned_ms: number | null,
): PhasePart {
  const { phase, begin_ms, end_ms, done_bytes, total_bytes } = progress;
  const ended = end_ms ?? (over ? now_ms : null);
  if (ended !== null)
    return {
      phase,
      label: `${NAMES[phase]} ${lasted(ended - begin_ms, total_bytes)}`.trim(),
      state: 'done',
      fraction: 1,
    };
  const past_ms = Math.max(0, now_ms - begin_ms);
  const share = total_bytes
    ? (done_bytes ?? 0) / total_bytes
    : planned_ms
      ? past_ms / planned_ms
      : null;
  return {
    phase,
    label: `${NAMES[phase]} ${soFar(progress, past_ms, planned_ms)}`.trim(),
    state: 'now',
    fraction: share === null ? null : Math.min(1, share),
  };
}

/** A phase shorter than this has no time worth a word. */
const WORTH_TELLING_MS = 20;

function lasted(ms: number, total_bytes: number | null | undefined): string {
  const moved = total_bytes ? `${text(bytes(total_bytes))} in ` : '';
  return ms < WORTH_TELLING_MS
    ? moved.replace(' in ', '')
    : `${moved}${duration(Math.round(ms / 100) * 100 || ms)}`;
}

function soFar(
  { done_bytes, total_bytes }: PhaseProgress,
  past_ms: number,
  planned_ms: number | null,
): string {
  if (total_bytes) return `${text(bytes(done_bytes ?? 0))} of ${text(bytes(total_bytes))}`;
  const past = (past_ms / 1000).toFixed(1);
  return planned_ms ? `${past} of ${duration(planned_ms)}` : `${past} s`;
}

/** How long a run will still take until its report, in ms; null when that cannot be told. */
export function remainingMs(fold: RunFold, now_ms: number): number | null {
  const current = fold.phases.findLast(({ end_ms }) => end_ms === null);
  if (!fold.accepted || isFinal(fold.status)) return null;
  const measure_ms = fold.accepted.measure_ms ?? null;
  const ramp_ms = rampOf(fold.accepted.jobs);
  if (measure_ms === null) return null;
  if (!current)
    return fold.phases.some(({ phase }) => phase === 'measure') ? 0 : ramp_ms + measure_ms;
  const left = Math.max(0, (plannedOf(current, fold) ?? 0) - (now_ms - current.begin_ms));
  if (current.phase === 'measure') return left;
  if (current.phase === 'ramp') return left + measure_ms;
  if (isBehindMeasure(current.phase)) return null;
  return current.phase === 'layout'
    ? layoutLeft(current, now_ms, ramp_ms + measure_ms)
    : ramp_ms + measure_ms;
}

/** A flush takes as long as the device takes: nothing tells how long that is. */
const isBehindMeasure = (phase: Phase) => ORDER.indexOf(phase) > ORDER.indexOf('measure');

function layoutLeft(
  { begin_ms, done_bytes, total_bytes }: PhaseProgress,
  now_ms: number,
  after_ms: number,
): number | null {
  if (!done_bytes || !total_bytes) return null;
  return ((now_ms - begin_ms) * (total_bytes - done_bytes)) / done_bytes + after_ms;
}
