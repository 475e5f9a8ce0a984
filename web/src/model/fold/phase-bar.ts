// The phase bar: finished, active and upcoming phases with their progress. A finished run has no
// upcoming phases; if it did not complete, its last phase is marked.
import type { Phase, RunStatus } from '../../api';
import { bytes, text } from '../format/numbers';
import { duration } from '../format/time';
import { isAfter, PHASE_LABELS, plannedMs, plannedPhases } from './phases';
import { isFinal, type PhaseProgress, type RunFold } from './run-fold';

export interface PhasePart {
  phase: Phase;
  label: string;
  state: 'done' | 'active' | 'pending' | 'stopped' | 'failed';
  /** Progress from 0 to 1; null if unknown. */
  fraction: number | null;
}

/** `now_ms`: time since the start of the run. */
export function phaseBar(fold: RunFold, now_ms: number): PhasePart[] {
  const finished = isFinal(fold.status);
  const last = lastPhase(fold);
  const started = fold.phases.map((progress) => {
    const end_ms = progress.end_ms ?? (finished ? now_ms : null);
    if (end_ms === null) return activePart(progress, now_ms, plannedMs(progress, fold));
    const state = progress === last ? END_STATES[fold.status] : undefined;
    return { ...donePart(progress, end_ms), ...(state && { state }) };
  });
  if (finished) return started;
  const planned: Phase[] = fold.accepted ? plannedPhases(fold.accepted.jobs) : ['guard', 'measure'];
  const pending = planned
    .filter((phase) => started.every((part) => isAfter(phase, part.phase)))
    .map((phase): PhasePart => {
      return { phase, label: PHASE_LABELS[phase], state: 'pending', fraction: null };
    });
  return [...started, ...pending];
}

/** State of the last phase of an incomplete run, by the run's status. */
const END_STATES: Partial<Record<RunStatus, PhasePart['state']>> = {
  cancelled: 'stopped',
  interrupted: 'stopped',
  failed: 'failed',
};

/**
 * Returns the phase in which a run ended. A cancelled run may still write its data and clean up.
 */
function lastPhase({ phases, result }: RunFold): PhaseProgress | undefined {
  const wasStopped = result?.report.ended_by === 'signal';
  const measure = wasStopped && phases.find(({ phase }) => phase === 'measure');
  return measure || phases.findLast(({ phase }) => phase !== 'clean_up');
}

const MINUTE_MS = 60_000;

/** Shorter phases are shown without a duration. */
const MIN_SHOWN_MS = 20;

function donePart({ phase, begin_ms, total_bytes }: PhaseProgress, end_ms: number): PhasePart {
  const ms = end_ms - begin_ms;
  const size = total_bytes ? text(bytes(total_bytes)) : '';
  const time = ms < MIN_SHOWN_MS ? '' : duration(Math.round(ms / 100) * 100 || ms);
  const detail = [size, time].filter(Boolean).join(' in ');
  const label = `${PHASE_LABELS[phase]} ${detail}`.trim();
  return { phase, label, state: 'done', fraction: 1 };
}

function activePart(
  { phase, begin_ms, done_bytes, total_bytes }: PhaseProgress,
  now_ms: number,
  planned_ms: number | null,
): PhasePart {
  const elapsed_ms = Math.max(0, now_ms - begin_ms);
  const elapsed = (elapsed_ms / 1000).toFixed(1);
  let detail = `${elapsed} s`;
  let fraction: number | null = null;
  if (total_bytes) {
    detail = `${text(bytes(done_bytes ?? 0))} of ${text(bytes(total_bytes))}`;
    fraction = Math.min(1, (done_bytes ?? 0) / total_bytes);
  } else if (planned_ms) {
    // Both times are in seconds if they are short; otherwise, each has its own unit.
    const isShort = planned_ms < MINUTE_MS;
    const shown = isShort ? elapsed : duration(Math.floor(elapsed_ms / 1000) * 1000);
    detail = `${shown} of ${duration(planned_ms)}`;
    fraction = Math.min(1, elapsed_ms / planned_ms);
  }
  return { phase, label: `${PHASE_LABELS[phase]} ${detail}`, state: 'active', fraction };
}
