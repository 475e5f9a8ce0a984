import { expect, it } from 'vitest';
import type { Run, StudyPlan } from '../../api';
import { plannedDuration, repeatStudy } from './repeat';

const run = (number: number, repeat: number | null) =>
  ({
    number,
    name: 'r',
    repeat,
    requested: { jobs: [{ rw: 'randread', randseed: 7 }], sample_ms: 100 },
  }) as Run;

it('removes the seeds that a study has inserted', () => {
  const { steps, repeats } = repeatStudy([run(1, 3), run(2, null)]);
  expect(repeats).toBe(10);
  expect(steps.map(({ jobs }) => jobs)).toEqual([
    [{ rw: 'randread' }],
    [{ rw: 'randread', randseed: 7 }],
  ]);
});

it.each([
  [[1, 2], 3000],
  [[1, null], null],
])('adds up planned durations of %j s', (seconds, expected) => {
  const steps = seconds.map((value) => ({ plan: { estimate: { seconds: value } } }));
  expect(plannedDuration({ steps } as unknown as StudyPlan)).toBe(expected);
});
