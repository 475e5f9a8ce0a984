import { expect, it } from 'vitest';
import type { Published, RunSummary, Study, StudyStep, UntilDecided } from '../../api';
import {
  comparableRuns,
  hasGroups,
  hiddenQueuedSteps,
  isStudyActive,
  notNeededText,
  runningStep,
  stepRows,
  stepsNotNeeded,
} from './rows';

const plain = (text: string) => text.replaceAll('\u00a0', ' ');
const run = (number: number, change: Partial<RunSummary> = {}) =>
  ({
    number,
    status: 'done',
    iops: 8767,
    bytes_per_second: 8767 * 4096,
    lat_p99_ns: 131_000,
    verdict: 'device',
    ...change,
  }) as RunSummary;
const step = (number: number, change: Partial<StudyStep> = {}): StudyStep => ({
  step: number,
  repeat: 1,
  sweep: [],
  name: `step ${number}`,
  run: run(number),
  ...change,
});
const PUBLISHED: Published = {
  source: 'a course',
  columns: ['run', 'IOPS'],
  rows: [
    { step: 2, cells: ['buffered again', '853,333'] },
    { step: null, cells: ['on another machine', '9,142'] },
  ],
};

it('shows published figures next to the corresponding step', () => {
  const rows = stepRows({
    steps: [step(1), step(2, { iops_change_percent: 9633 })],
    published: PUBLISHED,
    repeats: 1,
  });
  expect(rows.map(({ name, published }) => [name, ...published])).toEqual([
    ['step 1', '', ''],
    ['step 2', 'buffered again', '853,333'],
    ['on another machine', 'on another machine', '9,142'],
  ]);
  expect(
    [rows[1]?.iops, rows[1]?.change, rows[1]?.bandwidth, rows[1]?.p99].map((cell) =>
      plain(cell ?? ''),
    ),
  ).toEqual(['8.77 k', '97.3 ×', '34.2 MiB/s', '131 µs']);
});

it.each<[string, Partial<StudyStep>, string]>([
  ['done', {}, ''],
  ['waiting', { run: run(1, { status: 'queued' }) }, 'Queued'],
  ['failed', { run: run(1, { status: 'failed', reason: 'no space' }) }, 'Failed: no space'],
  ['deleted', { run: null }, 'Run deleted'],
])('shows the status of a step that is %s', (_, change, status) =>
  expect(stepRows({ steps: [step(1, change)], repeats: 1 })[0]?.status).toBe(status),
);

it('counts the runs that were not needed after a study was decided', () => {
  const reason = 'Not started: decided after 8 pairs.';
  const steps = [
    step(1, { run: run(1, { started_at_ms: 5 }) }),
    step(1, { run: run(2, { status: 'cancelled', started_at_ms: 6 }) }),
    step(1, { run: run(3, { status: 'cancelled', reason }) }),
    step(2, { run: run(4, { status: 'cancelled', reason }) }),
  ];
  const until_decided: UntilDecided = {
    metrics: ['read_iops'],
    threshold_percent: 2,
    looks: [],
  };
  const notNeeded = stepsNotNeeded({ steps, until_decided });
  expect(notNeeded.map(({ run }) => run?.number)).toEqual([3, 4]);
  expect(notNeededText(notNeeded)).toBe('2 runs: Not started: decided after 8 pairs.');
  expect(stepsNotNeeded({ steps, until_decided: null })).toEqual([]);
});

it('omits all but the first few of many queued runs', () => {
  const queued = (count: number) =>
    Array.from({ length: count }, (_, i) => step(1, { run: run(i + 2, { status: 'queued' }) }));
  const done = step(1, { run: run(1) });
  expect(hiddenQueuedSteps({ steps: [done, ...queued(6)] })).toEqual([]);
  const left = hiddenQueuedSteps({ steps: [done, ...queued(7)] });
  expect(left.map(({ run }) => run?.number)).toEqual([5, 6, 7, 8]);
});

it('compares the first eight finished runs', () => {
  const failed = step(1, { run: run(99, { status: 'failed' }) });
  const done = Array.from({ length: 9 }, (_, i) => step(i + 2));
  expect(comparableRuns({ steps: [failed, ...done] })).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
});

it('finds the running step', () => {
  const measuring = step(2, { run: run(2, { status: 'measuring' }) });
  expect(
    runningStep({ steps: [step(1), measuring, step(3, { run: run(3, { status: 'queued' }) })] }),
  ).toBe(measuring);
  expect(runningStep({ steps: [step(1)] })).toBeNull();
});

it.each([
  ['queued', true],
  ['running', true],
  ['done', false],
  ['interrupted', false],
] as const)('a study that is %s is active: %s', (status, expected) =>
  expect(isStudyActive(status)).toBe(expected),
);

it('numbers repeats and compares them as groups', () => {
  const repeated = (repeats: number, steps: number) => ({
    repeats,
    steps: Array.from({ length: steps }, (_, index) => step(index + 1)),
  });
  const rows = (repeats: number) => stepRows(repeated(repeats, 2)).map(({ repeat }) => repeat);
  expect([rows(1), rows(3)]).toEqual([
    ['', ''],
    ['repeat 1', 'repeat 1'],
  ]);
  expect(hasGroups(repeated(1, 2))).toBe(false);
  expect(hasGroups(repeated(5, 1))).toBe(false);
  expect(hasGroups(repeated(5, 2))).toBe(true);
  expect(hasGroups(repeated(5, 9))).toBe(false);
});

it('names the failed run that a run retries', () => {
  const failed = (status: 'failed' | 'interrupted', reason: string | null) =>
    stepRows({
      steps: [step(1, { note: 'Cold.', failed_run: run(6, { status, reason }) })],
      repeats: 2,
    })[0]?.note;
  expect(failed('failed', 'no space')).toBe('Cold. Retry of #6, which failed: no space');
  expect(failed('interrupted', null)).toBe('Cold. Retry of #6, which was interrupted.');
});

it('sorts repeats, which run in random order', () => {
  const steps = [step(2), { ...step(1), repeat: 2 }, step(1)];
  const rows = stepRows({ steps, repeats: 2 });
  expect(rows.map(({ step, repeat }) => [step, repeat])).toEqual([
    [1, 'repeat 1'],
    [1, 'repeat 2'],
    [2, 'repeat 1'],
  ]);
});

it('numbers the runs of a repeated rate in a load curve', () => {
  const names = ['1000 IOPS', '2000 IOPS', '2000 IOPS'];
  const rows = stepRows({
    steps: names.map((name, index) => step(index + 1, { name })),
    repeats: 1,
    procedure: { kind: 'load_curve' } as Study['procedure'],
  });
  expect(rows.map(({ repeat }) => repeat)).toEqual(['', 'run 1 of 2', 'run 2 of 2']);
});
