// One way to listen: a socket that connects again by itself, tells when it is lost, and is not fooled by a laptop that
// slept or a network that went away. Then a dead socket looks open, and silence is the only sign: the server's pings are
// answered by the browser, and no page is told of them. So a silent socket is replaced, and lost only when that fails.
import ReconnectingWebSocket from 'partysocket/ws';

/** Whether frames are coming. */
export type Link = 'connecting' | 'open' | 'lost';

/** What a listener is told. */
export interface SocketHandlers<T> {
  /** Path to connect to, asked anew at every attempt. */
  path: () => string | Promise<string>;
  onFrame: (frame: T) => void;
  onLink: (link: Link) => void;
  /** Silence after which the socket is replaced, in ms. */
  silence_ms: number;
}

/** A socket that is listened to. */
export interface Socket {
  /** Connects anew, such as after a gap. */
  reconnect: () => void;
  close: () => void;
}

/** How long a call may take that is made before a socket is tried again, in ms; then it is tried as it is. */
export const ANSWER_MS = 4000;

/** First and longest wait between two attempts, in ms: a restarted server is seen within two seconds. */
const RETRY_MS = {
  minReconnectionDelay: 300,
  maxReconnectionDelay: 2000,
  connectionTimeout: 4000,
  minUptime: 2000,
};

/** Opens a socket for JSON frames of one type. */
export function openSocket<T>({ path, onFrame, onLink, silence_ms }: SocketHandlers<T>): Socket {
  const address = async () => new URL(await path(), location.href.replace(/^http/, 'ws')).href;
  const socket = new ReconnectingWebSocket(address, [], RETRY_MS);
  let replacing = false;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const reconnect = () => {
    // The old one is told to be closed before this returns.
    replacing = true;
    socket.reconnect();
    replacing = false;
  };
  const listen = () => {
    clearTimeout(silence);
    silence = setTimeout(reconnect, silence_ms);
  };
  onLink('connecting');
  socket.onopen = () => {
    listen();
    onLink('open');
  };
  socket.onclose = () => {
    clearTimeout(silence);
    if (!replacing) onLink('lost');
  };
  socket.onmessage = ({ data }) => {
    listen();
    onFrame(JSON.parse(data) as T);
  };
  const wake = () => {
    if (document.visibilityState === 'visible' && socket.readyState !== ReconnectingWebSocket.OPEN)
      reconnect();
  };
  const events = [
    [window, 'online'],
    [document, 'visibilitychange'],
  ] as const;
  for (const [target, event] of events) target.addEventListener(event, wake);
  return {
    reconnect,
    close: () => {
      clearTimeout(silence);
      for (const [target, event] of events) target.removeEventListener(event, wake);
      socket.onclose = null;
      socket.onmessage = null;
      socket.close();
    },
  };
}
