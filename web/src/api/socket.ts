// A reconnecting WebSocket for JSON frames with an idle timeout. After sleep or a network change a
// dead socket still looks open, and the browser answers pings itself, so an idle socket is replaced
// and reported lost only if that fails.
import ReconnectingWebSocket from 'partysocket/ws';

export type ConnectionStatus = 'connecting' | 'open' | 'lost';

export interface SocketHandlers<T> {
  /** Path to connect to, evaluated on every attempt. */
  path: () => string | Promise<string>;
  onFrame: (frame: T) => void;
  onStatus: (status: ConnectionStatus) => void;
  /** Time without frames after which the socket is replaced. */
  idle_timeout_ms: number;
}

export interface Socket {
  reconnect: () => void;
  close: () => void;
}

/** Timeout of an API call that precedes a reconnect; the socket connects even if the call fails. */
export const REQUEST_TIMEOUT_MS = 4000;

/** Bounds of the backoff, in ms. The page reconnects to a restarted server within two seconds. */
const RECONNECT = {
  minReconnectionDelay: 300,
  maxReconnectionDelay: 2000,
  connectionTimeout: 4000,
  minUptime: 2000,
};

export function openSocket<T>({
  path,
  onFrame,
  onStatus,
  idle_timeout_ms,
}: SocketHandlers<T>): Socket {
  const url = async () => new URL(await path(), location.href.replace(/^http/, 'ws')).href;
  const socket = new ReconnectingWebSocket(url, [], RECONNECT);
  const listeners = new AbortController();
  let replacing = false;
  let idle: ReturnType<typeof setTimeout> | undefined;
  const reconnect = () => {
    // `reconnect` fires the close event of the old socket synchronously.
    replacing = true;
    socket.reconnect();
    replacing = false;
  };
  const restartTimer = () => {
    clearTimeout(idle);
    idle = setTimeout(reconnect, idle_timeout_ms);
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
    restartTimer();
    onFrame(JSON.parse(data) as T);
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
