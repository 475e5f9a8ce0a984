import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Event, JobReport, ResolvedJob, SteadyStateProgress } from '../../api';
import { RunFold } from './run-fold';
import { steadyBands, steadyStates } from './steady-state';

const EVENTS = readFileSync('src/model/fixtures/direct-randread.ndjson', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Event);
const SAMPLE = EVENTS.find((event) => event.type === 'sample');
const OPTIONS = {
  criterion: 'iops',
  limit: 5,
  is_percent: true,
  duration_s: 2,
  ramp_s: 0,
  interval_s: 1,
} as const;

/** A fold of jobs with `steadystate`, in the middle of the measurement. */
function liveFold(jobs = 1) {
  const fold = new RunFold();
  for (const event of EVENTS) if (event.seq <= 18) fold.apply(event);
  const job = fold.accepted?.jobs[0];
  if (!fold.accepted || !job) throw new Error('the recorded run has a job');
  const names = ['a', 'b'].slice(0, jobs);
  fold.accepted.jobs = names.map((name): ResolvedJob => ({ ...job, name, steady_state: OPTIONS }));
  return fold;
}

function addSecond(fold: RunFold, t_ms: number, state: Partial<SteadyStateProgress>) {
  if (SAMPLE?.type !== 'sample') throw new Error('the recorded run has samples');
  const progress = { job: 0, value: null, attained: false, summary: 'A sentence.', ...state };
  fold.apply({ ...SAMPLE, seq: fold.lastSeq + 1, t_ms, steady_states: [progress] });
}

it('is updated every second during a live run', () => {
  const fold = liveFold();
  const origin = (fold.measure_begin_ms ?? 0) / 1000;
  expect(steadyStates(fold)).toEqual([]);
  addSecond(fold, 5000, { summary: 'Not steady yet: incomplete.' });
  expect(steadyStates(fold)).toMatchObject([
    { state: 'pending', sentence: 'Not steady yet: incomplete.' },
  ]);
  expect(steadyBands(fold)).toEqual([]);
  addSecond(fold, 6000, { value: 12 });
  expect(steadyBands(fold)).toMatchObject([
    {
      short: 'Last window',
      from: expect.closeTo(4 - origin),
      to: expect.closeTo(6 - origin),
      panel: 'iops',
    },
  ]);
  addSecond(fold, 7000, { value: 4, attained: true });
  expect(steadyStates(fold)).toMatchObject([{ state: 'attained' }]);
  expect(steadyBands(fold)).toMatchObject([
    { short: 'Steady state', to: expect.closeTo(7 - origin) },
  ]);
});

it('names the job if there are several', () => {
  const fold = liveFold(2);
  addSecond(fold, 6000, { job: 1, value: 12 });
  expect(steadyStates(fold).map(({ sentence }) => sentence)).toEqual(['b: A sentence.']);
});

it('shows the report of a finished run', () => {
  const fold = new RunFold();
  for (const event of EVENTS) fold.apply(event);
  if (!fold.result) throw new Error('the recorded run has a report');
  const { report } = fold.result;
  const window = {
    start_ms: 1000,
    end_ms: 3000,
    mean_iops: 1,
    mean_bytes_per_second: 4096,
    max_deviation: 0,
    slope: 0,
    value: 0,
  };
  const steady_state: JobReport['steady_state'] = {
    criterion: 'bw_slope',
    limit: 1,
    is_percent: true,
    attained: false,
    attained_s: null,
    summary: 'Steady state not reached.',
    window,
    iops: [],
    lat_ns: [],
    bytes_per_second: [],
  };
  expect(steadyStates(fold)).toEqual([]);
  fold.result.report = {
    ...report,
    jobs: report.jobs.map((job) => ({ ...job, steady_state })),
  };
  expect(steadyStates(fold)).toMatchObject([
    { state: 'missed', sentence: 'Steady state not reached.' },
  ]);
  expect(steadyBands(fold)).toMatchObject([{ short: 'Last window', panel: 'bandwidth' }]);
});
