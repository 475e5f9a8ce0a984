// Runs and studies of every kind and in every state, created once on a server with its own data
// directory.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Server, shortRun } from '../e2e/server';

const LONG_NAME =
  'Nightly regression of the write-ahead log volume after the kernel update to 6.12, on the second disk';

/** Numbers of runs and studies, by name. */
export type Examples = Record<string, number>;

const FILE = 'examples.json';
const RUN_TIMEOUT_MS = 60_000;
const STUDY_TIMEOUT_MS = 240_000;
const POLL_MS = 150;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const job = (change: object = {}) => shortRun('', { size: '64m', iodepth: 16, ...change }).jobs[0];

/** No storage I/O, so the run does not lay out a file. */
const NULL_JOB = job({ ioengine: 'null', runtime: '200ms', filename: undefined });

async function getStatus(server: Server, path: string) {
  return (await server.call<{ status: string }>('GET', path)).status;
}

async function waitFor(server: Server, path: string, wanted: RegExp, timeout_ms: number) {
  const end = Date.now() + timeout_ms;
  while (!wanted.test(await getStatus(server, path))) {
    if (Date.now() > end) throw new Error(`${path} is ${await getStatus(server, path)}`);
    await pause(POLL_MS);
  }
}

const ENDED = /done|failed|cancelled|interrupted/;

/** Starts a run. `more` contains request fields other than the jobs. */
export async function startRun(server: Server, name: string, change: object, more: object = {}) {
  const request = { name, jobs: [job(change)], ...more };
  return (await server.call<{ number: number }>('POST', '/runs', request)).number;
}

async function finishRun(server: Server, name: string, change: object, more: object = {}) {
  const number = await startRun(server, name, change, more);
  await waitFor(server, `/runs/${number}`, ENDED, RUN_TIMEOUT_MS);
  return number;
}

/** Starts a run and waits until it is measured. */
export async function measureRun(server: Server, name: string, change: object) {
  const number = await startRun(server, name, { runtime: '120s', ...change });
  const samples = async () =>
    (await server.call<{ samples: number }>('GET', `/runs/${number}`)).samples;
  const end = Date.now() + RUN_TIMEOUT_MS;
  while ((await samples()) < 20 && Date.now() < end) await pause(POLL_MS);
  return number;
}

const RUNS: Record<string, [name: string, change: object, more?: object]> = {
  direct: [
    '4k random read, direct',
    { runtime: '8s', ramp_time: '1s' },
    { tags: ['baseline', 'disk'], notes: 'First run after the firmware update.' },
  ],
  buffered: [
    'Same file, buffered',
    { direct: 0, ioengine: 'psync', iodepth: 1, pre_read: 1, invalidate: 0, runtime: '3s' },
  ],
  long: [LONG_NAME, { runtime: '2s' }, { tags: ['nightly', 'kernel-6.12', 'wal'] }],
  long2: [LONG_NAME.replace('second', 'third'), { runtime: '2s', iodepth: 4 }],
  deferred: [
    'Buffered writes without a flush',
    { rw: 'write', bs: '128k', direct: 0, ioengine: 'psync', iodepth: 1, filename: 'deferred' },
  ],
  mixed: [
    'OLTP-like mix',
    { rw: 'randrw', rwmixread: 70, bs: '8k', filename: 'mixed', runtime: '3s', verify: undefined },
  ],
  verified: [
    'Verified writes',
    { rw: 'randwrite', verify: 'crc32c', filename: 'verified', size: '8m', runtime: '1s' },
  ],
  null: ['Null engine', { ioengine: 'null', filename: undefined }],
  rejected: ['Target outside the root', { filename: 'short', cache_state: 'warm', direct: 0 }],
};

async function createRuns(server: Server, numbers: Examples) {
  for (const [key, [name, change, more]] of Object.entries(RUNS))
    numbers[key] = await finishRun(server, name, change, more);
  await server.call('POST', `/runs/${numbers.direct}/annotations`, {
    t_ms: 4000,
    text: 'backup started',
  });
  for (let i = 0; i < 8; i += 1)
    numbers[`eight${i}`] = await finishRun(server, `${LONG_NAME.slice(0, 60)} ${i}`, {
      iodepth: 2 ** (i % 4),
      direct: i === 5 ? 0 : 1,
    });
}

async function createEndedRuns(server: Server, numbers: Examples) {
  const cancelled = await measureRun(server, 'Cancelled after two seconds', {});
  await server.call('POST', `/runs/${cancelled}/cancel`);
  await waitFor(server, `/runs/${cancelled}`, ENDED, RUN_TIMEOUT_MS);
  const interrupted = await measureRun(server, 'The server was killed', {});
  await server.kill();
  await server.start();
  await waitFor(server, `/runs/${interrupted}`, ENDED, RUN_TIMEOUT_MS);
  const failed = await measureRun(server, 'The runner was killed', {});
  const children = `/proc/${server.pid}/task/${server.pid}/children`;
  // The runner's parent can be any thread of the server.
  const text = execFileSync('sh', ['-c', `cat ${children.replace(/task\/\d+/, 'task/*')}`], {
    encoding: 'utf8',
  });
  for (const pid of text.split(/\s+/).filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
  await waitFor(server, `/runs/${failed}`, ENDED, RUN_TIMEOUT_MS);
  Object.assign(numbers, { cancelled, interrupted, failed });
}

const READ = { runtime: '400ms' };
const steps = (...depths: number[]) =>
  depths.map((iodepth) => ({ name: `depth ${iodepth}`, jobs: [job({ ...READ, iodepth })] }));

const STUDIES: Record<string, object> = {
  repeats: { name: 'One step, five repeats', repeats: 5, steps: steps(4) },
  compared: { name: LONG_NAME, repeats: 4, order: 'interleaved', steps: steps(1, 8) },
  decided: {
    name: 'Until decided',
    repeats: 40,
    order: 'interleaved',
    until_decided: {},
    steps: [5000, 4000].map((rate_iops) => ({
      name: `${rate_iops} IOPS`,
      jobs: [{ ...NULL_JOB, rate_iops }],
    })),
  },
  sweep: {
    name: 'Depth and block size',
    repeats: 2,
    sweep: [
      { option: 'iodepth', values: [1, 4, 16, 64] },
      { option: 'bs', values: ['4k', '16k', '64k'] },
    ],
    steps: [{ name: 'read', jobs: [job(READ)] }],
  },
  curve: {
    name: 'How much load can it take?',
    load_curve: { rates: [1000, 2000, 4000, 8000, 16_000, 100_000], seconds: 1, ramp_seconds: 0 },
    steps: [{ jobs: [job({ runtime: undefined, time_based: undefined })] }],
  },
  snia: {
    name: 'SNIA IOPS test',
    snia: {
      test: 'iops',
      class: 'client',
      cell_seconds: 1,
      max_rounds: 6,
      mixes: [0, 65, 100],
      blocks: ['4k', '64k'],
    },
    steps: [
      { jobs: [{ name: 'file', filename: 'snia', ioengine: 'psync', size: '8m', direct: 1 }] },
    ],
  },
  sniaLatency: {
    name: 'SNIA latency test',
    snia: { test: 'latency', class: 'client', cell_seconds: 1, max_rounds: 5 },
    steps: [
      { jobs: [{ name: 'file', filename: 'snia', ioengine: 'psync', size: '8m', direct: 1 }] },
    ],
  },
  trend: { name: 'Nightly', repeats: 6, steps: [{ jobs: [{ ...NULL_JOB, iodepth: 3 }] }] },
  trend2: { name: 'Nightly', repeats: 6, steps: [{ jobs: [{ ...NULL_JOB, iodepth: 3 }] }] },
};

async function createStudies(server: Server, numbers: Examples) {
  for (const [key, study] of Object.entries(STUDIES)) {
    const request = { idle_wait_seconds: 0, ...study };
    const { number } = await server.call<{ number: number }>('POST', '/studies', request);
    await waitFor(server, `/studies/${number}`, ENDED, STUDY_TIMEOUT_MS);
    numbers[key] = number;
  }
}

async function createSettings(server: Server) {
  const nightly = { name: 'Nightly read', jobs: [job(READ)] };
  for (const [name, document] of [
    ['Every night', nightly],
    [LONG_NAME.slice(0, 90), { ...nightly, name: LONG_NAME }],
  ] as const)
    await server.call('POST', '/schedules', {
      name,
      cron: '30 2 * * *',
      time_zone: 'Europe/Berlin',
      tags: ['nightly'],
      document,
    });
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const url = 'http://127.0.0.1:1/a-long-path-of-a-chat/hooks/T00000000/B00000000';
  await server.call('POST', '/webhooks', { name: 'Chat', url, secret });
}

async function importFioResult(server: Server): Promise<number> {
  const options = ['--name=lab', '--rw=randread', '--bs=4k', '--size=1m', '--ioengine=psync'];
  const output = ['--filename=fio.data', '--output-format=json+'];
  const cwd = server.directory;
  const result = execFileSync('fio', [...options, ...output], { cwd, encoding: 'utf8' });
  const text = result.slice(result.indexOf('{'));
  const imported = await server.call<{ number?: number; run?: { number: number } }>(
    'POST',
    '/runs/import',
    JSON.parse(text),
  );
  return imported.number ?? imported.run?.number ?? 0;
}

/** Modifies the stored results of a run and a study so they no longer match their checksums. */
async function corruptResults(server: Server, run: number, study: number) {
  await server.kill();
  const sql = `UPDATE run_details SET report = replace(report, '1', '2') WHERE run = ${run};
    UPDATE studies SET until_decided = '{' WHERE number = ${study};`;
  execFileSync('sqlite3', [join(server.directory, 'leadline.db'), sql]);
  await server.start();
}

/** Returns the examples on a running server, creating them if there are none. */
export async function prepareExamples(server: Server): Promise<Examples> {
  const file = join(server.directory, FILE);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Examples;
  const numbers: Examples = {};
  await createRuns(server, numbers);
  await createEndedRuns(server, numbers);
  await createStudies(server, numbers);
  await createSettings(server);
  numbers.foreign = await importFioResult(server);
  numbers.damaged = await finishRun(server, 'Damaged result', { runtime: '300ms' });
  const study = { name: 'Damaged', steps: steps(1, 2), idle_wait_seconds: 0 };
  const damaged = await server.call<{ number: number }>('POST', '/studies', study);
  numbers.damagedStudy = damaged.number;
  await waitFor(server, `/studies/${damaged.number}`, ENDED, STUDY_TIMEOUT_MS);
  await corruptResults(server, numbers.damaged, damaged.number);
  writeFileSync(file, JSON.stringify(numbers));
  return numbers;
}
