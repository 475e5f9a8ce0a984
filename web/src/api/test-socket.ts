// For tests of listeners: a socket whose other end is the test.
import { vi } from 'vitest';

/** Put it in the place of the browser's with `TestSocket.install()`. */
export class TestSocket extends EventTarget {
  static opened: TestSocket[] = [];
  readyState = 0;
  binaryType = 'blob';
  constructor(readonly url: string) {
    super();
    TestSocket.opened.push(this);
  }
  /** Every socket that is opened from now on is kept in `opened`. */
  static install() {
    TestSocket.opened = [];
    vi.stubGlobal('WebSocket', TestSocket);
  }
  /** The socket that was opened last. */
  static get last() {
    const last = TestSocket.opened.at(-1);
    if (!last) throw new Error('no socket was opened');
    return last;
  }
  accept() {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }
  tell(frame: object) {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(frame) }));
  }
  close() {
    this.readyState = 3;
  }
  lose() {
    this.readyState = 3;
    this.dispatchEvent(
      Object.assign(new Event('close'), { code: 1006, reason: '', wasClean: false }),
    );
  }
}
