import { QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { serve } from '../test-page';
import { openFeed } from './feed';
import { followFeed } from './follow-feed';
import { onSignedOut } from './problem';
import {
  compareQuery,
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
const settled = () => vi.advanceTimersByTimeAsync(3000);
const asked = (path: string) => calls.filter(({ call }) => call === `GET ${path}`).length;
const stale = (key: readonly unknown[]) => queryClient.getQueryState(key)?.isInvalidated;
/** A feed that is open, so that what is kept from now on is fresh. */
const open = async () => {
  await settled();
  TestSocket.last.accept();
  await settled();
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
  stops = [followFeed(), openFeed()];
});
afterEach(() => {
  for (const stop of stops) stop();
  vi.useRealTimers();
});

it('shows where to sign in when the server that came back has another token', async () => {
  const signedOut = vi.fn();
  stops.push(onSignedOut(signedOut));
  await open();
  vi.stubGlobal('fetch', async () =>
    Response.json({ title: 'Unauthorized', code: 'unauthorized' }, { status: 401 }),
  );
  TestSocket.last.lose();
  expect(signedOut).not.toHaveBeenCalled();
  await settled();
  expect(signedOut).toHaveBeenCalled();
});

it('asks anew for what is shown when the feed begins again', async () => {
  for (const options of [runQuery(7), studyQuery(2)])
    stops.push(
      new QueryObserver<unknown>(
        queryClient,
        options as object as { queryKey: string[] },
      ).subscribe(() => undefined),
    );
  await settled();
  TestSocket.last.accept();
  await settled();
  const before = ['/api/v1/runs/7', '/api/v1/studies/2'].map(asked);
  TestSocket.last.lose();
  await settled();
  TestSocket.last.accept();
  await settled();
  expect(['/api/v1/runs/7', '/api/v1/studies/2'].map(asked)).toEqual(
    before.map((times) => times + 1),
  );
});

it('holds lists and hosts for stale when the feed begins again, and leaves what stays as it is', async () => {
  await settled();
  queryClient.setQueryData(runsQuery({}).queryKey, { pages: [], pageParams: [] });
  queryClient.setQueryData(studiesQuery.queryKey, { pages: [], pageParams: [] });
  queryClient.setQueryData(['hosts'], []);
  queryClient.setQueryData(optionsQuery.queryKey, []);
  TestSocket.last.accept();
  const kept = [runsQuery({}).queryKey, studiesQuery.queryKey, ['hosts'], optionsQuery.queryKey];
  expect(kept.map(stale)).toEqual([true, true, true, false]);
});

it('asks anew, when the feed begins again, for what the server failed to answer', async () => {
  stops.push(new QueryObserver(queryClient, optionsQuery).subscribe(() => undefined));
  await open();
  const before = asked('/api/v1/options');
  TestSocket.last.lose();
  await settled();
  TestSocket.last.accept();
  await settled();
  expect(asked('/api/v1/options')).toBe(before + 1);
});

it('keeps the whole verdict of a run that was tagged, of which a summary has the word', async () => {
  await open();
  const verdict = { read: { class: 'page_cache' }, write: null };
  queryClient.setQueryData<object>(['run', 7], { number: 7, status: 'done', tags: [], verdict });
  TestSocket.last.tell({
    type: 'run',
    run: { number: 7, status: 'done', tags: ['new'], verdict: 'page_cache' },
  });
  expect(queryClient.getQueryData(['run', 7])).toMatchObject({ tags: ['new'], verdict });
});

it('asks anew for the course and for comparisons of a run that came to its end', async () => {
  await open();
  const kept = [
    seriesQuery(7, {}, 600).queryKey,
    compareQuery([7, 8], 7).queryKey,
    seriesQuery(8, {}, 600).queryKey,
  ];
  for (const key of kept) queryClient.setQueryData<object>(key, {});
  TestSocket.last.tell({ type: 'run', run: { number: 7, status: 'measuring' } });
  await settled();
  expect(kept.map(stale)).toEqual([false, false, false]);
  TestSocket.last.tell({ type: 'run', run: { number: 7, status: 'done', finished_at_ms: 1 } });
  await settled();
  expect(kept.map(stale)).toEqual([true, true, false]);
});

it('asks anew for runs that wait when the queue moves', async () => {
  await open();
  queryClient.setQueryData<object>(['run', 3], { number: 3, status: 'queued' });
  queryClient.setQueryData<object>(['run', 4], { number: 4, status: 'done' });
  TestSocket.last.tell({ type: 'queue', running: 1, queued: 1 });
  await settled();
  expect([stale(['run', 3]), stale(['run', 4])]).toEqual([true, false]);
});

it('asks anew for lists when the status of a run changes: a filter may go by it', async () => {
  await open();
  const list = runsQuery({ q: 'status:measuring' }).queryKey;
  queryClient.setQueryData<object>(list, {
    pages: [{ runs: [{ number: 7, status: 'measuring' }] }],
    pageParams: [undefined],
  });
  TestSocket.last.tell({ type: 'run', run: { number: 7, status: 'measuring', name: 'renamed' } });
  await settled();
  expect(stale(list)).toBe(false);
  TestSocket.last.tell({ type: 'run', run: { number: 7, status: 'finishing' } });
  await settled();
  expect(stale(list)).toBe(true);
});

it('replaces a feed that stays silent', async () => {
  await settled();
  TestSocket.last.accept();
  await vi.advanceTimersByTimeAsync(61_000);
  expect(TestSocket.opened).toHaveLength(2);
});
