// What happens to all runs: the socket behind lists and the header. Frames go to listeners and the last word about the
// queue is kept. Not here: what is done with the answers that queries hold (`follow-feed`).
import type { RunsEvent } from './generated/types.gen';
import { listHosts } from './index';
import { ANSWER_MS, type Link, openSocket } from './socket';

/** What the header shows. */
export interface FeedState {
  link: Link;
  /** Runs that are running and waiting; null until the server said so. */
  queue: { running: number; queued: number } | null;
}

type Frame = (frame: RunsEvent) => void;

/** Silence after which the socket is replaced, in ms. Where no run moves there is nothing to say, so that it is long. */
const SILENCE_MS = 60_000;

let state: FeedState = { link: 'connecting', queue: null };
const watchers = new Set<() => void>();
const listeners = new Set<Frame>();
const openers = new Set<() => void>();

function setState(change: Partial<FeedState>) {
  state = { ...state, ...change };
  for (const watcher of watchers) watcher();
}

/** A browser does not tell why a socket was refused. A call does, and who must sign in anew is shown where. */
async function path() {
  if (state.link === 'lost')
    await listHosts({ signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null);
  return '/api/v1/events';
}

/** Opens the feed for as long as the page lives. Returns how to close it. */
export function openFeed(): () => void {
  const onFrame = (frame: RunsEvent) => {
    if (frame.type === 'queue')
      setState({ queue: { running: frame.running, queued: frame.queued } });
    for (const listener of listeners) listener(frame);
  };
  const onLink = (link: Link) => {
    setState({ link });
    if (link === 'open') for (const opener of openers) opener();
  };
  return openSocket<RunsEvent>({ path, onFrame, onLink, silence_ms: SILENCE_MS }).close;
}

/** Calls back with every frame. Returns how to stop it. */
export function onFeed(listener: Frame): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Calls back whenever the feed begins: nothing is known of what happened before. Returns how to stop it. */
export function onFeedOpen(opener: () => void): () => void {
  openers.add(opener);
  return () => openers.delete(opener);
}

/** For `useSyncExternalStore`: subscribe to the feed's state. */
export function watchFeed(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** The feed's state now. */
export const feedState = (): FeedState => state;
