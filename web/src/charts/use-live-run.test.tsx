import { readFileSync } from 'node:fs';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { beforeEach, expect, it } from 'vitest';
import type { Event, Run } from '../api';
import { TestSocket } from '../api/test-socket';
import { useLiveRun } from './use-live-run';

const EVENTS = readFileSync('src/model/fixtures/direct-randread.ndjson', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Event);
const [report] = EVENTS.flatMap((event) => (event.type === 'report' ? [event.report] : []));
/** 15 minutes of samples. */
const LONG = { number: 7, status: 'interrupted', samples: 9000, findings: [] } as unknown as Run;

const client = new QueryClient();
const watch = (run: Run) =>
  renderHook(() => useLiveRun(run), {
    wrapper: ({ children }: { children: ReactNode }) => (
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    ),
  });

beforeEach(() => TestSocket.install());

it('shows a long run from its report', () => {
  const { result } = watch({ ...LONG, report } as Run);
  expect(result.current.bucketed).toBe(true);
  expect(result.current.fold.result?.report).toEqual(report);
});

it('folds all events of a long run without a report before showing it', async () => {
  const { result } = watch(LONG);
  expect(result.current.bucketed).toBe(false);
  await waitFor(() => expect(TestSocket.opened).toHaveLength(1));
  const kept = EVENTS.filter(({ type }) => type !== 'report').map((event, seq) => ({
    ...event,
    seq,
  }));
  act(() => {
    TestSocket.last.accept();
    for (const event of kept.slice(0, -1)) TestSocket.last.receive(event);
  });
  expect([result.current.fold.status, result.current.fold.lastSeq]).toEqual(['interrupted', -1]);
  act(() => TestSocket.last.receive(kept.at(-1) ?? {}));
  expect(result.current.fold.lastSeq).toBe(kept.length - 1);
  expect(result.current.fold.result).toBeNull();
  expect(result.current.fold.totals.read.ios).toBe(report?.read.ios);
});
