// A fake WebSocket for tests; the test plays the server.
import { vi } from 'vitest';

export class TestSocket extends EventTarget {
  static opened: TestSocket[] = [];
  readyState = 0;
  binaryType = 'blob';
  constructor(readonly url: string) {
    super();
    TestSocket.opened.push(this);
  }
  /** Replaces the global `WebSocket`. */
  static install() {
    TestSocket.opened = [];
    vi.stubGlobal('WebSocket', TestSocket);
  }
  /** The most recently opened socket. */
  static get last() {
    const last = TestSocket.opened.at(-1);
    if (!last) throw new Error('no socket was opened');
    return last;
  }
  accept() {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }
  receive(frame: object) {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(frame) }));
  }
  close() {
    this.readyState = 3;
  }
  drop() {
    this.readyState = 3;
    const close = { code: 1006, reason: '', wasClean: false };
    this.dispatchEvent(Object.assign(new Event('close'), close));
  }
}
