import { expect, it } from 'vitest';
import type { Run, StudyPlan } from '../../api';
import { costText, plannedDuration, repeatStudy } from './repeat';

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
  [[1, 2], '#1 and #2'],
  [[1, 2, 3], '#1, #2, and #3'],
])('names the study of runs %j', (numbers, expected) => {
  const { name, steps } = repeatStudy(numbers.map((number) => run(number, null)));
  expect(name).toBe(expected);
  expect(steps).toHaveLength(numbers.length);
});

it.each([
  [[1, 2], 3000],
  [[1, null], null],
])('adds up planned durations of %j s', (seconds, expected) => {
  const steps = seconds.map((value) => ({ plan: { estimate: { seconds: value } } }));
  expect(plannedDuration({ steps } as unknown as StudyPlan)).toBe(expected);
});

it('plans a study with until_decided', () => {
  const study = repeatStudy([run(1, null), run(2, null)], true);
  expect(study).toMatchObject({ repeats: 30, until_decided: {} });
  const steps = [{ plan: { estimate: { seconds: 30 } } }, { plan: { estimate: { seconds: 10 } } }];
  const plan = { steps, idle_wait_seconds: 10 } as unknown as StudyPlan;
  const cost = (planned: StudyPlan) => costText(planned).replaceAll('\u00a0', ' ');
  expect(cost(plan)).toBe('40 s');
  const looks = [9, 14, 30].map((pairs) => ({ pairs, confidence_percent: 99 }));
  const until_decided = { metrics: [], threshold_percent: 2, looks };
  expect(cost({ ...plan, until_decided })).toBe('9 to 30 pairs, at most 1 min');
});
