import { beforeEach, expect, it, vi } from 'vitest';
import { StartRequest, startAgain, startRun } from './start';

/** The keys that the server was sent, in order. */
let keys: (string | null)[];
let wish: StartRequest;
const answerWith = (answer: () => Response) =>
  vi.stubGlobal('fetch', async (request: Request) => {
    keys.push(request.headers.get('Idempotency-Key'));
    return answer();
  });
const started = () => Response.json({ number: 12 }, { status: 201 });
const lost = () => {
  throw new TypeError('Failed to fetch');
};
const refused = (status: number) => () =>
  Response.json({ title: 'No', code: 'no', detail: '' }, { status });

const JOBS = { jobs: [{ name: 't1', rw: 'randread' }] };
const start = async (answer: () => Response, request = JOBS) => {
  answerWith(answer);
  await startRun(request, wish).catch(() => undefined);
};

beforeEach(() => {
  keys = [];
  wish = new StartRequest();
});

it.each([
  ['no answer came', lost],
  ['the server failed', refused(502)],
])('asks with the same key again when %s', async (_, answer) => {
  await start(answer);
  await start(started);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(keys[1]).toBe(keys[0]);
});

it.each([
  ['it was started', started],
  ['it was refused', refused(429)],
])('asks with another key once %s', async (_, answer) => {
  await start(answer);
  await start(started);
  expect(keys[1]).not.toBe(keys[0]);
});

it('asks with another key when something else is wanted', async () => {
  await start(lost);
  await start(started, { jobs: [{ name: 't1', rw: 'read' }] });
  expect(keys[1]).not.toBe(keys[0]);
});

it('tells a rerun of one run from that of another', async () => {
  answerWith(lost);
  for (const n of [5, 5, 6]) await startAgain(n, {}, wish).catch(() => undefined);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});
