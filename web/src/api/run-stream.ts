// The events of one run, from the one that is still missing on: stored ones first, then live. Whatever happens between
// page and server, the listener sees each event once and in order, or is told to begin anew (a server that was killed
// may have lost its last second). Not here: what events amount to.
import type { Event } from './generated/types.gen';
import { getRun } from './index';
import { ANSWER_MS, type Link, openSocket, type Socket } from './socket';

/** Who listens to a run. */
export interface RunListener {
  /** Number of the event that is missing next. */
  next: () => number;
  /** Takes an event; false when one before it is missing. */
  take: (event: Event) => boolean;
  /** Forgets everything: the server's list is shorter than what was seen. */
  reset: () => void;
  /** Whether nothing more can come. */
  isOver: () => boolean;
  onLink: (link: Link) => void;
}

/**
 * Silence after which the socket is replaced, in ms: samples come every 100 ms, 10 s at most. A run that waits, or that
 * waits for its device to flush, is silent for longer.
 */
const SILENCE_MS = 15_000;

/** Listens to a run until it is over or closed. */
export function openRunStream(run: number, listener: RunListener): { close: () => void } {
  let first = true;
  const path = async () => {
    if (!first) await resetWhenOther(run, listener);
    first = false;
    return `/api/v1/runs/${run}/stream?since=${listener.next()}`;
  };
  const onFrame = (event: Event) => {
    if (!listener.take(event)) socket.reconnect();
    else if (listener.isOver()) socket.close();
  };
  const socket: Socket = openSocket<Event>({
    path,
    onFrame,
    onLink: listener.onLink,
    silence_ms: SILENCE_MS,
  });
  return { close: socket.close };
}

/** A server that was killed may have lost its last second; then the numbers that were seen stand for other events now. */
async function resetWhenOther(run: number, listener: RunListener) {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const { data } = await getRun({ path: { n: run }, signal, throwOnError: true }).catch(() => ({
    data: null,
  }));
  if (!data) return;
  const seen = listener.next() - 1;
  const endedUnseen = Boolean(data.finished_at_ms) && data.last_seq <= seen && !listener.isOver();
  if (data.last_seq < seen || endedUnseen) listener.reset();
}
