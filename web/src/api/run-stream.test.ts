import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Event } from './generated/types.gen';
import { openRunStream, type RunListener } from './run-stream';
import { TestSocket } from './test-socket';

const settled = () => vi.advanceTimersByTimeAsync(3000);
const last = () => TestSocket.last;
const since = () => Number(new URL(last().url).searchParams.get('since'));

function listener(): RunListener & { seen: number[]; links: string[]; resets: number } {
  const mine = {
    seen: [] as number[],
    links: [] as string[],
    resets: 0,
    next: () => (mine.seen.at(-1) ?? -1) + 1,
    take: (event: Event) => {
      if (event.seq !== mine.next()) return event.seq < mine.next();
      mine.seen.push(event.seq);
      return true;
    },
    reset: () => {
      mine.seen = [];
      mine.resets += 1;
    },
    isOver: () => mine.seen.includes(99),
    onLink: (link: string) => mine.links.push(link),
  };
  return mine;
}

/** What GET /runs/7 says about how much the server still has. */
function serverHas(last_seq: number, finished_at_ms: number | null = null) {
  vi.stubGlobal('fetch', async () => Response.json({ number: 7, last_seq, finished_at_ms }));
}

beforeEach(() => {
  vi.useFakeTimers();
  TestSocket.install();
  serverHas(50);
});
afterEach(() => vi.useRealTimers());

describe('a listener', () => {
  it('asks for what is missing, and resumes after a loss where it stopped', async () => {
    const mine = listener();
    const stream = openRunStream(7, mine);
    await settled();
    expect(new URL(last().url).pathname).toBe('/api/v1/runs/7/stream');
    expect(since()).toBe(0);
    last().accept();
    for (const seq of [0, 1, 2]) last().tell({ seq });
    last().lose();
    await settled();
    expect([TestSocket.opened.length, since()]).toEqual([2, 3]);
    last().accept();
    for (const seq of [2, 3]) last().tell({ seq });
    expect(mine.seen).toEqual([0, 1, 2, 3]);
    expect(mine.links).toEqual(['connecting', 'open', 'lost', 'open']);
    stream.close();
  });

  it('connects anew when an event is missing', async () => {
    const mine = listener();
    const stream = openRunStream(7, mine);
    await settled();
    last().accept();
    last().tell({ seq: 0 });
    last().tell({ seq: 5 });
    await settled();
    expect([TestSocket.opened.length, since(), mine.seen]).toEqual([2, 1, [0]]);
    stream.close();
  });

  it('begins anew when the server lost what was already seen', async () => {
    const mine = listener();
    const stream = openRunStream(7, mine);
    await settled();
    last().accept();
    for (let seq = 0; seq < 9; seq += 1) last().tell({ seq });
    serverHas(4);
    last().lose();
    await settled();
    expect([mine.resets, since()]).toEqual([1, 0]);
    stream.close();
  });

  it('begins anew when the end stands where another event was seen', async () => {
    const mine = listener();
    const stream = openRunStream(7, mine);
    await settled();
    last().accept();
    for (let seq = 0; seq < 9; seq += 1) last().tell({ seq });
    serverHas(8, 1_795_000_000_000);
    last().lose();
    await settled();
    expect([mine.resets, since()]).toEqual([1, 0]);
    stream.close();
  });

  it('does not trust a socket that stays silent, however often, and does not call it lost', async () => {
    const mine = listener();
    const stream = openRunStream(7, mine);
    await settled();
    for (const replaced of [1, 2, 3]) {
      last().accept();
      await vi.advanceTimersByTimeAsync(16_000);
      expect(TestSocket.opened.length).toBe(replaced + 1);
    }
    expect(mine.links).toEqual(['connecting', 'open', 'open', 'open']);
    stream.close();
  });

  it('calls a silent socket lost when no other can be had', async () => {
    const mine = listener();
    const stream = openRunStream(7, mine);
    await settled();
    last().accept();
    await vi.advanceTimersByTimeAsync(16_000);
    last().lose();
    expect(mine.links).toEqual(['connecting', 'open', 'lost']);
    stream.close();
  });

  it('stops when the run is over', async () => {
    const mine = listener();
    mine.seen = [98];
    openRunStream(7, mine);
    await settled();
    last().accept();
    last().tell({ seq: 99 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(TestSocket.opened.length).toBe(1);
  });
});
