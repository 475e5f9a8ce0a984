// The event stream of one run: stored events first, then live ones. A listener gets each event once
// and in order, or is reset if a server crash lost the most recent events. State computed from the
// events is in `model/fold`.
import type { Event } from './generated/types.gen';
import { type ConnectionStatus, openSocket, type Socket } from './socket';

export interface RunListener {
  /** Sequence number of the next missing event. */
  nextSeq: () => number;
  /** Applies an event. Returns false if an earlier event is missing. */
  apply: (event: Event) => boolean;
  /** Drops all events. Called if the server has lost some of them. */
  reset: () => void;
  isFinished: () => boolean;
  onStatus: (status: ConnectionStatus) => void;
}

/** Streams a run to `listener` until it is finished or closed. */
export function openRunStream(run: number, listener: RunListener): { close: () => void } {
  let epoch = 0;
  const path = () => `/api/v1/runs/${run}/stream?since=${listener.nextSeq()}&epoch=${epoch}`;
  const onMessage = (event: Event) => {
    const isNewEpoch = (event.epoch ?? 0) > epoch;
    if (isNewEpoch && event.seq < listener.nextSeq()) {
      // The event replaces events that were already applied.
      epoch = 0;
      listener.reset();
      socket.reconnect();
      return;
    }
    epoch = event.epoch ?? 0;
    if (!listener.apply(event)) socket.reconnect();
    else if (listener.isFinished()) socket.close();
  };
  const { onStatus } = listener;
  const socket: Socket = openSocket<Event>({ path, onMessage, onStatus });
  return { close: socket.close };
}
