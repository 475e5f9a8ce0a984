import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Event } from './generated/types.gen';
import { openRunStream, type RunListener } from './run-stream';
import { TestSocket } from './test-socket';

const advance = () => vi.advanceTimersByTimeAsync(3000);
const last = () => TestSocket.last;
const parameter = (name: string) => Number(new URL(last().url).searchParams.get(name));
const since = () => parameter('since');
const epoch = () => parameter('epoch');

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

beforeEach(() => {
  vi.useFakeTimers();
  TestSocket.install();
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

  it('resets when the server has lost events', async () => {
    const target = listener();
    const stream = openRunStream(7, target);
    await advance();
    last().accept();
    for (let seq = 0; seq < 9; seq += 1) last().receive({ seq });
    last().drop();
    await advance();
    expect([since(), epoch()]).toEqual([9, 0]);
    last().accept();
    last().receive({ seq: 5, epoch: 1 });
    await advance();
    expect([TestSocket.opened.length, target.resets, since(), epoch()]).toEqual([3, 1, 0, 0]);
    last().accept();
    for (let seq = 0; seq < 5; seq += 1) last().receive({ seq });
    last().receive({ seq: 5, epoch: 1 });
    expect([target.resets, target.seen.length]).toEqual([1, 6]);
    stream.close();
  });

  it('continues when a new epoch follows the last event', async () => {
    const target = listener();
    const stream = openRunStream(7, target);
    await advance();
    last().accept();
    last().receive({ seq: 0 });
    last().receive({ seq: 1, epoch: 1 });
    last().drop();
    await advance();
    expect([target.resets, since(), epoch()]).toEqual([0, 2, 1]);
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
