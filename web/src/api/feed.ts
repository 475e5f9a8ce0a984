// The WebSocket feed of changes to all runs: connection status, queue length, and frames for
// subscribers. `cache-sync` updates cached queries from the frames.
import type { RunsEvent } from './generated/types.gen';
import { getSession } from './index';
import { type ConnectionStatus, type Heartbeat, openSocket, REQUEST_TIMEOUT_MS } from './socket';

export interface FeedState {
  status: ConnectionStatus;
  /** Null until the first queue message. */
  queue: { running: number; queued: number } | null;
  /** Why the database does not accept writes, and how to fix it. */
  storeProblem: string | null;
}

export type FeedMessage = Exclude<RunsEvent, Heartbeat>;
type MessageListener = (message: FeedMessage) => void;

let state: FeedState = { status: 'connecting', queue: null, storeProblem: null };
const stateListeners = new Set<() => void>();
const messageListeners = new Set<MessageListener>();
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
  const onMessage = (message: FeedMessage) => {
    if (message.type === 'queue')
      setState({ queue: { running: message.running, queued: message.queued } });
    if (message.type === 'store') setState({ storeProblem: message.detail ?? null });
    for (const listener of messageListeners) listener(message);
  };
  const onStatus = (status: ConnectionStatus) => {
    setState({ status });
    if (status === 'open') for (const listener of openListeners) listener();
  };
  return openSocket<FeedMessage>({ path, onMessage, onStatus }).close;
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls `listener` with every message. Returns an unsubscribe function. */
export const onFeed = (listener: MessageListener) => subscribe(messageListeners, listener);

/**
 * Calls `listener` each time the feed connects. Frames may have been missed while it was
 * disconnected. Returns an unsubscribe function.
 */
export const onFeedConnected = (listener: () => void) => subscribe(openListeners, listener);

/** For `useSyncExternalStore`. */
export const subscribeFeed = (listener: () => void) => subscribe(stateListeners, listener);
export const getFeedState = (): FeedState => state;
