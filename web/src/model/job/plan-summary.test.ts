import { expect, it } from 'vitest';
import type { Plan } from '../../api';
import { caveats, durationText, studyCostText, writesText } from './plan-summary';

const GIB = 2 ** 30;
function plan(change: Partial<Plan['estimate']>, rest: Partial<Plan> = {}): Plan {
  const estimate = {
    seconds: 30,
    seconds_note: null,
    layout_bytes: 0,
    measure_write_bytes: 0,
    buffer_bytes: 4096,
    ...change,
  };
  return {
    jobs: [],
    sample_ms: 100,
    phases: [],
    estimate,
    measures: '',
    findings: [],
    problems: [],
    ...rest,
  };
}
const phase = (name: 'layout' | 'ramp' | 'measure' | 'guard', seconds: number | null) => ({
  phase: name,
  seconds,
  write_bytes: null,
});
const job = (rw: string, path: string, layout_bytes: number) =>
  ({ rw, targets: [{ path, layout_bytes }] }) as unknown as Plan['jobs'][number];
const plain = (s: string) => s.replaceAll('\u00a0', ' ');

it.each<[string, Plan]>([
  [
    'about 41 s: layout 9 s, ramp 2 s, measure 30 s',
    plan(
      { seconds: 41 },
      {
        phases: [phase('guard', 0.01), phase('layout', 9), phase('ramp', 2), phase('measure', 30)],
      },
    ),
  ],
  ['about 30 s', plan({}, { phases: [phase('measure', 30)] })],
  ['about 30 s. Without limit.', plan({ seconds_note: 'Without limit.' })],
  ['limited by size', plan({ seconds: null, seconds_note: 'limited by size' })],
  ['unknown', plan({ seconds: null })],
])('formats a duration: %s', (expected, input) =>
  expect(plain(durationText(input))).toBe(expected),
);

it.each<[string, Plan]>([
  ['nothing', plan({}, { jobs: [job('randread', '/t', 0)] })],
  ['1 GiB once to create /t', plan({ layout_bytes: GIB }, { jobs: [job('randread', '/t', GIB)] })],
  [
    '1 GiB once to create /t, then up to 4 GiB',
    plan({ layout_bytes: GIB, measure_write_bytes: 4 * GIB }, { jobs: [job('write', '/t', GIB)] }),
  ],
  [
    'continuously for the whole runtime',
    plan({ measure_write_bytes: null }, { jobs: [job('randrw', '/t', 0)] }),
  ],
])('formats written bytes: %s', (expected, input) =>
  expect(plain(writesText(input))).toBe(expected),
);

it.each<[string, Partial<Plan['estimate']>[]]>([
  ['1 step, about 30 s; writes 0 B.', [{}]],
  ['2 steps, about 1 min; writes 1 GiB.', [{ layout_bytes: GIB }, {}]],
  ['2 steps, about 30 s plus 1 step limited by size; writes 0 B.', [{}, { seconds: null }]],
  [
    '3 steps, about 30 s plus 2 steps limited by size; writes 0 B.',
    [{}, { seconds: null }, { seconds: null }],
  ],
  ['1 step; writes 0 B.', [{ seconds: null }]],
  [
    '1 step, about 30 s; writes continuously for the whole runtime.',
    [{ measure_write_bytes: null }],
  ],
  [
    '2 steps, about 1 min; writes 3 GiB, and continuously for the whole runtime.',
    [{ layout_bytes: GIB, measure_write_bytes: null }, { measure_write_bytes: 2 * GIB }],
  ],
])('summarizes a study: %s', (expected, estimates) => {
  const phases = [phase('measure', 30)];
  const steps = estimates.map((estimate, index) => ({
    step: index + 1,
    repeat: 1,
    name: '',
    jobs: [],
    plan: plan(estimate, { phases }),
  }));
  expect(plain(studyCostText({ steps }))).toBe(expected);
});

it('adds the maximum wait for idle devices', () => {
  const steps = [1, 2].map((repeat) => ({ step: 1, repeat, name: '', jobs: [], plan: plan({}) }));
  expect(plain(studyCostText({ steps, idle_wait_seconds: 10 }))).toBe(
    '1 step, 2 runs, about 1 min, plus up to 20 s waiting for idle devices; writes 0 B.',
  );
});

it('ignores writes of rejected steps', () => {
  const rejected = plan({ seconds: null, measure_write_bytes: null });
  expect(
    plain(studyCostText({ steps: [{ step: 1, repeat: 1, name: '', jobs: [], plan: rejected }] })),
  ).toBe('1 step; writes 0 B.');
});

it('lists findings with remedies as caveats', () => {
  const findings = [
    {
      code: 'x',
      severity: 'warning' as const,
      sentence: 'The database is on vda too.',
      evidence: {},
      remedy: 'Move it.',
    },
  ];
  expect(caveats(plan({}, { findings }))).toEqual(['The database is on vda too. Move it.']);
});
