// The estimated time until a run's report.
import { isAfter, plannedMs } from './phases';
import { isFinal, type PhaseProgress, type RunFold, rampOf } from './run-fold';

/**
 * Remaining time in ms. Null if it is unknown, for example if the run is size-based, or if the
 * measurement has ended and a later phase is active.
 */
export function remainingMs(fold: RunFold, now_ms: number): number | null {
  const measure_ms = fold.accepted?.measure_ms ?? null;
  if (!fold.accepted || measure_ms === null || isFinal(fold.status)) return null;
  const total_ms = rampOf(fold.accepted.jobs) + measure_ms;
  const active = fold.phases.findLast(({ end_ms }) => end_ms === null);
  if (!active) return fold.measure_begin_ms === null ? total_ms : 0;
  if (isAfter(active.phase, 'measure')) return null;
  if (active.phase === 'layout') return remainingLayoutMs(active, now_ms, total_ms);
  const left_ms = Math.max(0, (plannedMs(active, fold) ?? 0) - (now_ms - active.begin_ms));
  if (active.phase === 'measure') return left_ms;
  return active.phase === 'ramp' ? left_ms + measure_ms : total_ms;
}

function remainingLayoutMs(
  { begin_ms, done_bytes, total_bytes }: PhaseProgress,
  now_ms: number,
  total_ms: number,
): number | null {
  if (!done_bytes || !total_bytes) return null;
  return ((now_ms - begin_ms) * (total_bytes - done_bytes)) / done_bytes + total_ms;
}
