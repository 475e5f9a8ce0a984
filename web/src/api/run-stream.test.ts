import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Event } from './generated/types.gen';
import { openRunStream, type RunListener } from './run-stream';
import { TestSocket } from './test-socket';

const advance = () => vi.advanceTimersByTimeAsync(3000);
const last = () => TestSocket.last;
const since = () => Number(new URL(last().url).searchParams.get('since'));

function listener(): RunListener & { seen: number[]; statuses: string[]; resets: number } {
  const target = {
    seen: [] as number[],
    statuses: [] as string[],
    resets: 0,
    nextSeq: () => (target.seen.at(-1) ?? -1) + 1,
    apply: (event: Event) => {
      if (event.seq !== target.nextSeq()) return event.seq < target.nextSeq();
      target.seen.push(event.seq);
      return true;
    },
    reset: () => {
      target.seen = [];
      target.resets += 1;
    },
    isFinished: () => target.seen.includes(99),
    onStatus: (status: string) => target.statuses.push(status),
  };
  return target;
}

/** Sets the last event of GET /runs/7. */
function serverHas(last_seq: number, finished_at_ms: number | null = null) {
  vi.stubGlobal('fetch', async () => Response.json({ number: 7, last_seq, finished_at_ms }));
}

beforeEach(() => {
  vi.useFakeTimers();
  TestSocket.install();
  serverHas(50);
});
afterEach(() => vi.useRealTimers());

describe('openRunStream', () => {
  it('resumes after a disconnect at the next missing event', async () => {
    const target = listener();
    const stream = openRunStream(7, target);
    await advance();
    expect(new URL(last().url).pathname).toBe('/api/v1/runs/7/stream');
    expect(since()).toBe(0);
    last().accept();
    for (const seq of [0, 1, 2]) last().receive({ seq });
    last().drop();
    await advance();
    expect([TestSocket.opened.length, since()]).toEqual([2, 3]);
    last().accept();
    for (const seq of [2, 3]) last().receive({ seq });
    expect(target.seen).toEqual([0, 1, 2, 3]);
    expect(target.statuses).toEqual(['connecting', 'open', 'lost', 'open']);
    stream.close();
  });

  it('reconnects when an event is missing', async () => {
    const target = listener();
    const stream = openRunStream(7, target);
    await advance();
    last().accept();
    last().receive({ seq: 0 });
    last().receive({ seq: 5 });
    await advance();
    expect([TestSocket.opened.length, since(), target.seen]).toEqual([2, 1, [0]]);
    stream.close();
  });

  it('resets when the server has fewer events', async () => {
    const target = listener();
    const stream = openRunStream(7, target);
    await advance();
    last().accept();
    for (let seq = 0; seq < 9; seq += 1) last().receive({ seq });
    serverHas(4);
    last().drop();
    await advance();
    expect([target.resets, since()]).toEqual([1, 0]);
    stream.close();
  });

  it('resets when the run finished at an earlier event', async () => {
    const target = listener();
    const stream = openRunStream(7, target);
    await advance();
    last().accept();
    for (let seq = 0; seq < 9; seq += 1) last().receive({ seq });
    serverHas(8, 1_795_000_000_000);
    last().drop();
    await advance();
    expect([target.resets, since()]).toEqual([1, 0]);
    stream.close();
  });

  it('keeps a socket with heartbeats, and replaces an idle one without reporting it lost', async () => {
    const target = listener();
    const stream = openRunStream(7, target);
    await advance();
    for (const replaced of [1, 2, 3]) {
      last().accept();
      for (let beats = 0; beats < 10; beats += 1) {
        last().receive({ type: 'heartbeat', interval_ms: 2000 });
        await vi.advanceTimersByTimeAsync(4900);
        expect(TestSocket.opened.length).toBe(replaced);
      }
      await vi.advanceTimersByTimeAsync(200);
      expect(TestSocket.opened.length).toBe(replaced + 1);
    }
    expect(target.statuses).toEqual(['connecting', 'open', 'open', 'open']);
    expect(target.seen).toEqual([]);
    stream.close();
  });

  it('reports an idle socket lost when the reconnect fails', async () => {
    const target = listener();
    const stream = openRunStream(7, target);
    await advance();
    last().accept();
    await vi.advanceTimersByTimeAsync(10_100);
    last().drop();
    expect(target.statuses).toEqual(['connecting', 'open', 'lost']);
    stream.close();
  });

  it('closes when the run is finished', async () => {
    const target = listener();
    target.seen = [98];
    openRunStream(7, target);
    await advance();
    last().accept();
    last().receive({ seq: 99 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(TestSocket.opened.length).toBe(1);
  });
});
