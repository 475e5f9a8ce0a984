import { beforeEach, expect, it, vi } from 'vitest';
import { IdempotentRequest, startRerun, startRun } from './start';

/** Keys received by the server, in order. */
let keys: (string | null)[];
let request: IdempotentRequest;
const respondWith = (respond: () => Response) =>
  vi.stubGlobal('fetch', async ({ headers }: Request) => {
    keys.push(headers.get('Idempotency-Key'));
    return respond();
  });
const created = () => Response.json({ number: 12 }, { status: 201 });
const noResponse = () => {
  throw new TypeError('Failed to fetch');
};
const rejected = (status: number) => () =>
  Response.json({ title: 'No', code: 'no', detail: '' }, { status });

const JOBS = { jobs: [{ name: 't1', rw: 'randread' }] };
const start = async (respond: () => Response, body = JOBS) => {
  respondWith(respond);
  await startRun(body, request).catch(() => undefined);
};

beforeEach(() => {
  keys = [];
  request = new IdempotentRequest();
});

it.each([
  ['there was no response', noResponse],
  ['the server failed', rejected(502)],
])('reuses the key when %s', async (_, respond) => {
  await start(respond);
  await start(created);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).toBe(keys[0]);
});

it.each([
  ['the run was created', created],
  ['it was rejected', rejected(429)],
])('uses a new key once %s', async (_, respond) => {
  await start(respond);
  await start(created);
  expect(keys[1]).not.toBe(keys[0]);
});

it('uses a new key for a different body', async () => {
  await start(noResponse);
  await start(created, { jobs: [{ name: 't1', rw: 'read' }] });
  expect(keys[1]).not.toBe(keys[0]);
});

it('uses different keys for reruns of different runs', async () => {
  respondWith(noResponse);
  for (const n of [5, 5, 6]) await startRerun(n, {}, request).catch(() => undefined);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});
