// The events of one run: stored ones first, then live ones. A listener gets each event once and in
// order, or is reset after a server crash that lost the last second of events. State
// computed from the events is in `model/fold`.
import type { Event } from './generated/types.gen';
import { getRun } from './index';
import { type ConnectionStatus, openSocket, REQUEST_TIMEOUT_MS, type Socket } from './socket';

export interface RunListener {
  /** Sequence number of the next missing event. */
  nextSeq: () => number;
  /** Returns false when an earlier event is missing. */
  apply: (event: Event) => boolean;
  /** Drops all events. Called if the server has fewer events than were applied. */
  reset: () => void;
  isFinished: () => boolean;
  onStatus: (status: ConnectionStatus) => void;
}

/** Streams a run to `listener` until it is finished or closed. */
export function openRunStream(run: number, listener: RunListener): { close: () => void } {
  let first = true;
  const path = async () => {
    if (!first) await resetIfTruncated(run, listener);
    first = false;
    return `/api/v1/runs/${run}/stream?since=${listener.nextSeq()}`;
  };
  const onFrame = (event: Event) => {
    if (!listener.apply(event)) socket.reconnect();
    else if (listener.isFinished()) socket.close();
  };
  const { onStatus } = listener;
  const socket: Socket = openSocket<Event>({ path, onFrame, onStatus });
  return { close: socket.close };
}

/**
 * Resets the listener if the server lost events in a crash, because it reuses their sequence
 * numbers.
 */
async function resetIfTruncated(run: number, listener: RunListener) {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const response = await getRun({ path: { n: run }, signal, throwOnError: true }).catch(() => null);
  if (!response) return;
  const { last_seq, finished_at_ms } = response.data;
  const applied = listener.nextSeq() - 1;
  const missedEnd = Boolean(finished_at_ms) && last_seq <= applied && !listener.isFinished();
  if (last_seq < applied || missedEnd) listener.reset();
}
