import { describe, expect, it } from 'vitest';
import type { Problem } from '../../api';
import {
  activeIndex,
  addStep,
  changeStep,
  duplicateStep,
  isComplete,
  moveStep,
  newDraft,
  removeStep,
  type StudyDraft,
  toDocument,
} from './draft';
import { problemsByStep } from './draft-problems';
import { stepSummary } from './step-summary';

const text = (name: string) => `[${name}]\nrw=randread\nbs=8k\ndirect=1\n`;
const draft = ['b', 'c'].reduce((steps, name) => addStep(steps, text(name)), newDraft(text('a')));
/** Job names in order, with the active step in capitals. */
const order = (edited: StudyDraft) =>
  toDocument(edited)
    .steps.map(({ jobs }, index) =>
      index === activeIndex(edited) ? String(jobs[0]?.name).toUpperCase() : jobs[0]?.name,
    )
    .join(' ');

describe('steps', () => {
  const cases: [string, StudyDraft, string][] = [
    ['are added at the end and activated', draft, 'a b C'],
    ['are followed by their duplicate', duplicateStep(draft, 0), 'a A b c'],
    ['move down', moveStep(draft, 0, 1), 'b a C'],
    ['move up and stay active', moveStep(draft, 2, -1), 'a C b'],
    ['do not move before the start', moveStep(draft, 0, -1), 'a b C'],
    ['do not move past the end', moveStep(draft, 2, 1), 'a b C'],
    ['activate a neighbor when removed', removeStep(draft, 2), 'a B'],
    ['are removed without changing the active step', removeStep(draft, 0), 'b C'],
    ['are removed in the middle', removeStep({ ...draft, active: 2 }, 1), 'a C'],
    ['are not removed if there is only one', removeStep(newDraft(text('a')), 0), 'A'],
  ];
  it.each(cases)('%s', (_, edited, expected) => expect(order(edited)).toBe(expected));

  it('are duplicated with all fields', () => {
    const named = changeStep(draft, 0, { name: 'n', note: 'Purpose.', sampleMs: 50 });
    const [one, other] = duplicateStep(named, 0).steps;
    expect(other).toEqual({ ...one, id: other?.id });
  });

  it('have unique IDs', () => {
    const edited = duplicateStep(removeStep(duplicateStep(draft, 0), 1), 0);
    expect(new Set(edited.steps.map(({ id }) => id)).size).toBe(edited.steps.length);
  });

  it("are limited to the server's maximum", () => {
    let full = draft;
    for (let step = 0; step < 1100; step++) full = duplicateStep(full, 0);
    expect(full.steps.length).toBe(1024);
  });
});

it('posts only set fields', () => {
  expect(toDocument(newDraft(text('a')))).toEqual({
    steps: [{ jobs: [{ name: 'a', rw: 'randread', bs: '8k', direct: '1' }] }],
  });
  const second = { name: 'second', note: 'Purpose.', sampleMs: 50 };
  const full = {
    ...changeStep(draft, 1, second),
    name: 's',
    about: 'Why.',
    tags: ['t'],
    continueOnFailure: true,
  };
  const fields = {
    name: 's',
    about: 'Why.',
    tags: ['t'],
    continue_on_failure: true,
  };
  expect(toDocument(full)).toMatchObject(fields);
  expect(toDocument(full).steps.map(({ note, sample_ms }) => [note, sample_ms])).toEqual([
    [undefined, undefined],
    ['Purpose.', 50],
    [undefined, undefined],
  ]);
  expect(toDocument(full).steps.map(({ name }) => name)).toEqual([undefined, 'second', undefined]);
});

it('assigns problems to steps', () => {
  const problem = (field: string | null): Problem => ({
    code: 'c',
    kind: 'invalid',
    field,
    detail: `${field}`,
    remedy: '',
  });
  const fields = [
    'steps[1].jobs[0].bs',
    'steps[1].name',
    'steps[2].jobs[0].direct',
    'steps[2]',
    'name',
    null,
  ];
  const byStep = problemsByStep(changeStep(draft, 0, { text: 'a b c' }), fields.map(problem));
  const nonEmpty = [...byStep].filter(([, problems]) => problems.length > 0);
  const locations = nonEmpty.map(([step, problems]) => [
    step,
    problems.map(({ option, line }) => `${option} ${line}`),
  ]);
  expect(Object.fromEntries(locations)).toEqual({
    0: ['null 0', 'null null'],
    1: ['bs 2', 'name null'],
    2: ['direct 3', 'null null'],
    [-1]: ['name null', 'null null'],
  });
});

describe('stepSummary', () => {
  const cases: [string, string, string][] = [
    [text('a'), 'randread 8k direct', ''],
    [
      '[a]\nfilename=t\nrw=write\nbs=1m\niodepth=8\ndirect=0\ncache_state=cold\nfile_state=fresh\n',
      'write 1m × 8 buffered t',
      'file fresh, cache cold',
    ],
    [
      '[a]\nfilename=/dev/vdb\ndirect=1\ncache_state=as-is\n[b]\n',
      'read 4k raw /dev/vdb and 1 more',
      '',
    ],
    ['', 'No job yet', ''],
  ];
  it.each(cases)('%j', (job, summary, state) =>
    expect(stepSummary({ id: 1, name: '', text: job })).toMatchObject({ summary, state }),
  );
});

it('is complete if all steps are valid', () => {
  expect(isComplete(draft)).toBe(true);
  expect(isComplete(changeStep(draft, 1, { text: '' }))).toBe(false);
  expect(isComplete(changeStep(draft, 1, { text: '[a]\n!\n' }))).toBe(false);
});

it('sends how a study ends and how long it waits only if set', () => {
  const draft = { ...newDraft('[job]\nrw=read\n'), repeats: 20 };
  expect(toDocument(draft)).not.toHaveProperty('until_decided');
  expect(toDocument(draft)).not.toHaveProperty('idle_wait_seconds');
  expect(toDocument({ ...draft, untilDecided: [], idleWaitSeconds: 0 })).toMatchObject({
    repeats: 20,
    until_decided: {},
    idle_wait_seconds: 0,
  });
  expect(toDocument({ ...draft, untilDecided: ['read_iops'] })).toMatchObject({
    until_decided: { metrics: ['read_iops'] },
  });
});
