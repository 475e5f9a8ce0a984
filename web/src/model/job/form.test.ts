import { describe, expect, it } from 'vitest';
import type { Plan, Problem, RunSummary } from '../../api';
import { blockingRun } from './blocking-run';
import { isDestructive } from './form-options';
import { formProblems } from './form-problems';
import { type IoMode, ioModeOf, setIoMode } from './io-mode';
import { jobsOf, parseJobText } from './job-text';

const FILE = '[t1]\nfilename=t1\nrw=randread\ndirect=1\n';
const first = (text: string) => jobsOf(parseJobText(text))[0] ?? {};

describe('I/O mode', () => {
  it.each<[string, IoMode | null]>([
    ['[a]\ndirect=1', 'direct'],
    ['[a]\ndirect=true', 'direct'],
    ['[a]\ndirect=0', 'buffered'],
    ['[a]\nrw=read', null],
    ['[a]\nfilename=/dev/vdb\ndirect=0', 'raw'],
  ])('of %j is %s', (text, mode) => expect(ioModeOf(first(text))).toBe(mode));

  it.each<[IoMode, Record<string, string>]>([
    ['buffered', { filename: 't1', direct: '0' }],
    ['direct', { filename: 't1', direct: '1' }],
    ['raw', { filename: '/dev/', direct: '1' }],
  ])('changes to %s', (mode, options) => {
    const text = setIoMode(FILE, 0, first(FILE), mode);
    expect(first(text)).toMatchObject(options);
    expect(ioModeOf(first(text))).toBe(mode);
  });

  it('changes for one of several jobs', () => {
    const two = '[global]\nfilename=t1\ndirect=1\n[a]\nrw=read\n[b]\nrw=write\n';
    const [a, b] = jobsOf(parseJobText(setIoMode(two, 0, first(two), 'raw')));
    expect([ioModeOf(a ?? {}), ioModeOf(b ?? {})]).toEqual(['raw', 'direct']);
  });

  it('resets the file name when changing from a device', () => {
    const raw = '[a]\nfilename=/dev/vdb\ndirect=1\n';
    expect(first(setIoMode(raw, 0, first(raw), 'direct')).filename).toBe('t1');
  });
});

it.each([
  ['randread', false],
  ['read:8k', false],
  ['randwrite', true],
  ['randrw', true],
  ['rw', true],
  ['trim', true],
  [undefined, false],
])('%s is destructive: %s', (rw, expected) => expect(isDestructive(rw)).toBe(expected));

it.each([
  ['jobs[0].rw', { job: 0, option: 'rw', line: 2 }],
  ['jobs[0].runtime', { job: 0, option: 'runtime', line: 0 }],
  ['jobs[0]', { job: 0, option: null, line: null }],
  ['direct', { job: 0, option: 'direct', line: 3 }],
  ['confirm', { job: null, option: 'confirm', line: null }],
  [null, { job: null, option: null, line: null }],
])('locates problems of %j at %j', (field, location) => {
  expect(
    formProblems(
      [{ code: 'x', kind: 'invalid', field, detail: 's', remedy: 'r' }],
      parseJobText(FILE),
    )[0],
  ).toMatchObject(location);
});

it('prompts for a device instead of reporting an error', () => {
  const text = setIoMode(FILE, 0, first(FILE), 'raw');
  const problem: Problem = {
    code: 'not_a_file',
    kind: 'invalid',
    field: 'jobs[0].filename',
    detail: '/dev/ is a directory.',
    remedy: 'Use a file.',
  };
  expect(formProblems([problem], parseJobText(text))).toEqual([
    {
      job: 0,
      option: 'filename',
      line: null,
      detail: 'Choose a device.',
      remedy: '',
      isPrompt: true,
    },
  ]);
  expect(formProblems([problem], parseJobText(FILE))[0]).toMatchObject({
    line: 1,
    detail: problem.detail,
  });
});

it('finds the last active run on the same device', () => {
  const plan = { jobs: [{ targets: [{ device: 'vda' }] }] } as unknown as Plan;
  const run = (number: number, device: string, status: string) =>
    ({ number, device, status }) as unknown as RunSummary;
  expect(
    blockingRun(plan, [
      run(3, 'vda', 'queued'),
      run(4, 'vdb', 'queued'),
      run(2, 'vda', 'measuring'),
      run(9, 'vda', 'done'),
    ])?.number,
  ).toBe(3);
  expect(blockingRun(plan, [])).toBeNull();
});
