// When a queued run will start, estimated from the runs ahead of it.
import type { Run } from '../../api';
import { isFinal, rampOf } from '../fold/run-fold';

type QueuedRun = Pick<Run, 'status' | 'queue' | 'resolved' | 'measure_ms' | 'started_at_ms'>;

/**
 * Time until a run starts, in ms. `ahead`: its predecessor, the predecessor's predecessor, and so
 * on, up to a started run. Null if a duration is unknown. Excludes layout and the time between runs.
 */
export function startsInMs(ahead: readonly QueuedRun[], now_ms: number): number | null {
  const last = ahead.at(-1);
  if (!last || last.status === 'queued') return null;
  let end_ms = last.started_at_ms ?? now_ms;
  for (const { resolved, measure_ms, status } of ahead) {
    if (isFinal(status)) continue;
    if (measure_ms == null) return null;
    end_ms += rampOf(resolved ?? []) + measure_ms;
  }
  return Math.max(0, end_ms - now_ms);
}

/** Returns false for a run that leaves the queue at once, whose results are about to appear. */
export const isWaiting = ({ status, queue }: Pick<Run, 'status' | 'queue'>): boolean =>
  status === 'queued' && queue != null && queue.reason !== 'starting';
