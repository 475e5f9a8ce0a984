// A reconnecting WebSocket for JSON frames. After sleep or a network change, a dead socket still
// looks open, so the server sends heartbeats. A socket that misses them is replaced, and the
// connection is reported lost only if that fails.
import ReconnectingWebSocket from 'partysocket/ws';
import type { RunsEvent } from './generated/types.gen';

export type ConnectionStatus = 'connecting' | 'open' | 'lost';

export interface SocketHandlers<T> {
  /** Path to connect to, evaluated on every attempt. */
  path: () => string | Promise<string>;
  onMessage: (message: T) => void;
  onStatus: (status: ConnectionStatus) => void;
}

export interface Socket {
  reconnect: () => void;
  close: () => void;
}

/** Timeout of an API call that precedes a reconnect; the socket connects even if the call fails. */
export const REQUEST_TIMEOUT_MS = 4000;

/** A socket is replaced after this many heartbeat intervals without a message. */
const MAX_SILENCE = 2.5;
/** Timeout for the first heartbeat, which the server sends immediately. */
const FIRST_FRAME_TIMEOUT_MS = 10_000;

/** Backoff limits, in ms. The page reconnects to a restarted server within two seconds. */
const RECONNECT = {
  minReconnectionDelay: 300,
  maxReconnectionDelay: 2000,
  connectionTimeout: 4000,
  minUptime: 2000,
};

export type Heartbeat = Extract<RunsEvent, { type: 'heartbeat' }>;

const isHeartbeat = (message: unknown): message is Heartbeat =>
  (message as Partial<Heartbeat>).type === 'heartbeat';

export function openSocket<T>({ path, onMessage, onStatus }: SocketHandlers<T>): Socket {
  const url = async () => new URL(await path(), location.href.replace(/^http/, 'ws')).href;
  const socket = new ReconnectingWebSocket(url, [], RECONNECT);
  const listeners = new AbortController();
  let replacing = false;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let timeout_ms = FIRST_FRAME_TIMEOUT_MS;
  const reconnect = () => {
    // `reconnect` fires the old socket's close event synchronously.
    replacing = true;
    socket.reconnect();
    replacing = false;
  };
  const restartTimer = () => {
    clearTimeout(idle);
    idle = setTimeout(reconnect, timeout_ms);
  };
  onStatus('connecting');
  socket.onopen = () => {
    restartTimer();
    onStatus('open');
  };
  socket.onclose = () => {
    clearTimeout(idle);
    if (!replacing) onStatus('lost');
  };
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data) as T | Heartbeat;
    if (isHeartbeat(message)) timeout_ms = MAX_SILENCE * message.interval_ms;
    restartTimer();
    if (!isHeartbeat(message)) onMessage(message);
  };
  const wake = () => {
    if (document.visibilityState === 'visible' && socket.readyState !== ReconnectingWebSocket.OPEN)
      reconnect();
  };
  window.addEventListener('online', wake, listeners);
  document.addEventListener('visibilitychange', wake, listeners);
  return {
    reconnect,
    close: () => {
      clearTimeout(idle);
      listeners.abort();
      socket.onclose = null;
      socket.onmessage = null;
      socket.close();
    },
  };
}
