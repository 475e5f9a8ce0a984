import { QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { serve } from '../test-page';
import { syncCache } from './cache-sync';
import { openFeed } from './feed';
import { onUnauthorized } from './problem';
import {
  compareRunsQuery,
  hostsQuery,
  optionsQuery,
  queryClient,
  runQuery,
  runsQuery,
  seriesQuery,
  studiesQuery,
  studyQuery,
} from './queries';
import { TestSocket } from './test-socket';

let calls: ReturnType<typeof serve>;
let stops: (() => void)[];
const advance = () => vi.advanceTimersByTimeAsync(3000);
const requests = (path: string) => calls.filter(({ call }) => call === `GET ${path}`).length;
const isStale = (key: readonly unknown[]) => queryClient.getQueryState(key)?.isInvalidated;
/** Opens the feed, so that queries cached later are fresh. */
const open = async () => {
  await advance();
  TestSocket.last.accept();
  await advance();
};

beforeEach(() => {
  vi.useFakeTimers();
  TestSocket.install();
  queryClient.clear();
  calls = serve({
    'GET /api/v1/runs/7': { number: 7, status: 'measuring' },
    'GET /api/v1/studies/2': { number: 2, status: 'running' },
    'GET /api/v1/hosts': [],
  });
  stops = [syncCache(), openFeed()];
});
afterEach(() => {
  for (const stop of stops) stop();
  vi.useRealTimers();
});

it('reports a 401 when the restarted server has a different token', async () => {
  const unauthorized = vi.fn();
  stops.push(onUnauthorized(unauthorized));
  await open();
  vi.stubGlobal('fetch', async () =>
    Response.json({ title: 'Unauthorized', code: 'unauthorized' }, { status: 401 }),
  );
  TestSocket.last.drop();
  expect(unauthorized).not.toHaveBeenCalled();
  await advance();
  expect(unauthorized).toHaveBeenCalled();
});

it('refetches active queries after a reconnect', async () => {
  for (const options of [runQuery(7), studyQuery(2)])
    stops.push(
      new QueryObserver<unknown>(
        queryClient,
        options as object as { queryKey: string[] },
      ).subscribe(() => undefined),
    );
  await advance();
  TestSocket.last.accept();
  await advance();
  const before = ['/api/v1/runs/7', '/api/v1/studies/2'].map(requests);
  TestSocket.last.drop();
  await advance();
  TestSocket.last.accept();
  await advance();
  expect(['/api/v1/runs/7', '/api/v1/studies/2'].map(requests)).toEqual(
    before.map((times) => times + 1),
  );
});

it('invalidates lists and hosts on connect, but not constant queries', async () => {
  await advance();
  queryClient.setQueryData(runsQuery({}).queryKey, { pages: [], pageParams: [] });
  queryClient.setQueryData(studiesQuery.queryKey, { pages: [], pageParams: [] });
  queryClient.setQueryData(hostsQuery.queryKey, []);
  queryClient.setQueryData(optionsQuery.queryKey, []);
  TestSocket.last.accept();
  const keys = [
    runsQuery({}).queryKey,
    studiesQuery.queryKey,
    hostsQuery.queryKey,
    optionsQuery.queryKey,
  ];
  expect(keys.map(isStale)).toEqual([true, true, true, false]);
});

it('retries failed queries after a reconnect', async () => {
  stops.push(new QueryObserver(queryClient, optionsQuery).subscribe(() => undefined));
  await open();
  const before = requests('/api/v1/options');
  TestSocket.last.drop();
  await advance();
  TestSocket.last.accept();
  await advance();
  expect(requests('/api/v1/options')).toBe(before + 1);
});

it('keeps the verdict when a summary arrives', async () => {
  await open();
  const verdict = { read: { class: 'page_cache' }, write: null };
  const run = { number: 7, status: 'done', tags: [], verdict };
  queryClient.setQueryData<object>(runQuery(7).queryKey, run);
  TestSocket.last.receive({
    type: 'run',
    run: { number: 7, status: 'done', tags: ['new'], verdict_class: 'page_cache' },
  });
  expect(queryClient.getQueryData(runQuery(7).queryKey)).toMatchObject({ tags: ['new'], verdict });
});

it('invalidates the series and comparisons of a finished run', async () => {
  await open();
  const keys = [
    seriesQuery(7, { points: 600 }).queryKey,
    compareRunsQuery([7, 8]).queryKey,
    seriesQuery(8, { points: 600 }).queryKey,
  ];
  for (const key of keys) queryClient.setQueryData<object>(key, {});
  TestSocket.last.receive({ type: 'run', run: { number: 7, status: 'measuring' } });
  await advance();
  expect(keys.map(isStale)).toEqual([false, false, false]);
  TestSocket.last.receive({ type: 'run', run: { number: 7, status: 'done', finished_at_ms: 1 } });
  await advance();
  expect(keys.map(isStale)).toEqual([true, true, false]);
});

it('invalidates queued runs when the queue changes', async () => {
  await open();
  const keys = [3, 4].map((n) => runQuery(n).queryKey);
  keys.forEach((key, i) => {
    queryClient.setQueryData<object>(key, { status: i === 0 ? 'queued' : 'done' });
  });
  TestSocket.last.receive({ type: 'queue', running: 1, queued: 1 });
  await advance();
  expect(keys.map(isStale)).toEqual([true, false]);
});

it('invalidates run lists when a run changes status, because filters can match on status', async () => {
  await open();
  const list = runsQuery({ q: 'status:measuring' }).queryKey;
  queryClient.setQueryData<object>(list, {
    pages: [{ runs: [{ number: 7, status: 'measuring' }] }],
    pageParams: [undefined],
  });
  TestSocket.last.receive({
    type: 'run',
    run: { number: 7, status: 'measuring', name: 'renamed' },
  });
  await advance();
  expect(isStale(list)).toBe(false);
  TestSocket.last.receive({ type: 'run', run: { number: 7, status: 'finishing' } });
  await advance();
  expect(isStale(list)).toBe(true);
});

it('fetches nothing while only heartbeats arrive', async () => {
  const subscribe = (options: object) =>
    stops.push(
      new QueryObserver(queryClient, options as { queryKey: string[] }).subscribe(() => undefined),
    );
  for (const options of [runQuery(7), studyQuery(2), hostsQuery]) subscribe(options);
  await open();
  const before = calls.length;
  for (let beats = 0; beats < 60; beats += 1) {
    TestSocket.last.receive({ type: 'heartbeat', interval_ms: 10_000 });
    await vi.advanceTimersByTimeAsync(10_000);
  }
  expect([calls.length, TestSocket.opened.length]).toEqual([before, 1]);
});

it('reconnects without heartbeats', async () => {
  await advance();
  TestSocket.last.accept();
  TestSocket.last.receive({ type: 'heartbeat', interval_ms: 10_000 });
  await vi.advanceTimersByTimeAsync(24_900);
  expect(TestSocket.opened).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(200);
  expect(TestSocket.opened).toHaveLength(2);
});

it('keeps the series of finished runs when they change and after a reconnect', async () => {
  await open();
  const finished = { number: 7, status: 'done', finished_at_ms: 1 };
  queryClient.setQueryData<object>(runQuery(7).queryKey, finished);
  const keys = [7, 8].map((n) => seriesQuery(n, { points: 600 }).queryKey);
  for (const key of keys) queryClient.setQueryData<object>(key, {});
  TestSocket.last.receive({ type: 'run', run: { ...finished, name: 'renamed' } });
  await advance();
  expect(keys.map(isStale)).toEqual([false, false]);
  TestSocket.last.drop();
  await advance();
  TestSocket.last.accept();
  expect(keys.map(isStale)).toEqual([false, true]);
});
