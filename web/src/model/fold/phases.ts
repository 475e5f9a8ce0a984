// A run's phases: their order, labels and planned durations, and which of them a job needs.
import type { Phase, ResolvedJob } from '../../api';
import { getDirections } from '../run/summary';
import { type PhaseProgress, type RunFold, rampOf } from './run-fold';

/** In execution order. */
export const PHASE_LABELS: Record<Phase, string> = {
  layout: 'Layout',
  guard: 'Guard',
  idle_wait: 'Wait for idle devices',
  drop_caches: 'Drop caches',
  invalidate: 'Invalidate',
  pre_read: 'Pre-read',
  ramp: 'Ramp',
  measure: 'Measure',
  flush: 'Flush',
  verify: 'Verify',
  clean_up: 'Clean up',
};
const ORDER = Object.keys(PHASE_LABELS) as Phase[];

export const isAfter = (phase: Phase, other: Phase) => ORDER.indexOf(phase) > ORDER.indexOf(other);

/** The phases that jobs need, in execution order. */
export function plannedPhases(jobs: readonly ResolvedJob[]): Phase[] {
  const any = (test: (job: ResolvedJob) => boolean) => jobs.some(test);
  const flushed = jobs.filter((job) => job.end_fsync);
  const needed: Record<Phase, boolean> = {
    layout: any((job) => job.targets.some((target) => target.layout_bytes > 0)),
    guard: true,
    // Unknown until the phase begins.
    idle_wait: false,
    drop_caches: any((job) => job.drop_caches),
    invalidate: any((job) => job.invalidate && !job.pre_read),
    pre_read: any((job) => job.pre_read),
    ramp: rampOf(jobs) > 0,
    measure: true,
    flush: getDirections({ resolved: flushed, rw: '' }).writes,
    verify: any((job) => job.verify?.reads_back ?? false),
    clean_up: any((job) => job.unlink),
  };
  return ORDER.filter((phase) => needed[phase]);
}

/** A phase's planned duration in ms; null if it is unlimited or unknown. */
export function plannedMs(
  { phase, planned_ms }: PhaseProgress,
  { accepted }: RunFold,
): number | null {
  if (planned_ms || !accepted) return planned_ms ?? null;
  if (phase === 'ramp') return rampOf(accepted.jobs);
  return phase === 'measure' ? (accepted.measure_ms ?? null) : null;
}
