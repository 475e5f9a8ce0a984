// The WebSocket feed of changes to all runs: connection status, queue length, and frames for
// subscribers. `cache-sync` updates cached queries from the frames.
import type { RunsEvent } from './generated/types.gen';
import { getSession } from './index';
import { type ConnectionStatus, type Heartbeat, openSocket, REQUEST_TIMEOUT_MS } from './socket';

export interface FeedState {
  status: ConnectionStatus;
  /** Null until the first queue frame. */
  queue: { running: number; queued: number } | null;
  /** Why the database does not accept writes, and how to fix it. */
  storeProblem: string | null;
}

export type FeedFrame = Exclude<RunsEvent, Heartbeat>;
type FrameListener = (frame: FeedFrame) => void;

let state: FeedState = { status: 'connecting', queue: null, storeProblem: null };
const stateListeners = new Set<() => void>();
const frameListeners = new Set<FrameListener>();
const openListeners = new Set<() => void>();

function setState(change: Partial<FeedState>) {
  state = { ...state, ...change };
  for (const listener of stateListeners) listener();
}

/**
 * Before a reconnect, makes an API call: a failed handshake has no status code, but an API call
 * that fails with 401 opens the sign-in page.
 */
async function path() {
  if (state.status === 'lost')
    await getSession({ signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) }).catch(() => null);
  return '/api/v1/events';
}

/** Opens the feed. Returns a close function. */
export function openFeed(): () => void {
  const onFrame = (frame: FeedFrame) => {
    if (frame.type === 'queue')
      setState({ queue: { running: frame.running, queued: frame.queued } });
    if (frame.type === 'store') setState({ storeProblem: frame.detail ?? null });
    for (const listener of frameListeners) listener(frame);
  };
  const onStatus = (status: ConnectionStatus) => {
    setState({ status });
    if (status === 'open') for (const listener of openListeners) listener();
  };
  return openSocket<FeedFrame>({ path, onFrame, onStatus }).close;
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `listener` with every frame. Returns an unsubscribe function. */
export const onFeed = (listener: FrameListener) => subscribe(frameListeners, listener);

/** Calls `listener` on every connect; frames may have been missed before. Returns an unsubscribe function. */
export const onFeedConnected = (listener: () => void) => subscribe(openListeners, listener);

/** For `useSyncExternalStore`. */
export const subscribeFeed = (listener: () => void) => subscribe(stateListeners, listener);
export const getFeedState = (): FeedState => state;
