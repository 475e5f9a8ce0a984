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
  problemsByStep,
  removeStep,
  type StudyDraft,
  stepSummary,
  toDocument,
} from './draft';

const text = (name: string) => `[${name}]\nrw=randread\nbs=8k\ndirect=1\n`;
const draft = ['b', 'c'].reduce((so, name) => addStep(so, text(name)), newDraft(text('a')));
/** The jobs in order, that of the shown step in capitals. */
const order = (so: StudyDraft) =>
  toDocument(so)
    .steps.map(({ jobs }, place) =>
      place === activeIndex(so) ? String(jobs[0]?.name).toUpperCase() : jobs[0]?.name,
    )
    .join(' ');

describe('steps', () => {
  const cases: [string, StudyDraft, string][] = [
    ['are added at the end, and shown', draft, 'a b C'],
    ['are copied behind themselves', duplicateStep(draft, 0), 'a A b c'],
    ['move down', moveStep(draft, 0, 1), 'b a C'],
    ['move up, and stay shown', moveStep(draft, 2, -1), 'a C b'],
    ['do not move off the list', moveStep(draft, 0, -1), 'a b C'],
    ['do not move off its end', moveStep(draft, 2, 1), 'a b C'],
    ['go, and their neighbour is shown', removeStep(draft, 2), 'a B'],
    ['go without another being shown', removeStep(draft, 0), 'b C'],
    ['go in the middle', removeStep({ ...draft, active: 2 }, 1), 'a C'],
    ['stay when there is one', removeStep(newDraft(text('a')), 0), 'A'],
  ];
  it.each(cases)('%s', (_, so, expected) => expect(order(so)).toBe(expected));

  it('are copied with all that is said about them', () => {
    const said = changeStep(draft, 0, { name: 'n', note: 'What for.', sampleMs: 50 });
    const [one, other] = duplicateStep(said, 0).steps;
    expect(other).toEqual({ ...one, id: other?.id });
  });

  it('have ids of their own', () => {
    const so = duplicateStep(removeStep(duplicateStep(draft, 0), 1), 0);
    expect(new Set(so.steps.map(({ id }) => id)).size).toBe(so.steps.length);
  });

  it('are no more than the server takes', () => {
    let so = draft;
    for (let step = 0; step < 300; step++) so = duplicateStep(so, 0);
    expect(so.steps.length).toBe(256);
  });
});

it('posts what was said, and nothing else', () => {
  expect(toDocument(newDraft(text('a')))).toEqual({
    steps: [{ jobs: [{ name: 'a', rw: 'randread', bs: '8k', direct: '1' }] }],
  });
  const second = { name: 'second', note: 'What for.', sampleMs: 50 };
  const said = {
    ...changeStep(draft, 1, second),
    name: 's',
    about: 'Why.',
    tags: ['t'],
    continueOnFailure: true,
  };
  const around = {
    name: 's',
    about: 'Why.',
    tags: ['t'],
    continue_on_failure: true,
    confirm: 'SERIAL',
  };
  expect(toDocument(said, 'SERIAL')).toMatchObject(around);
  expect(toDocument(said).steps.map(({ note, sample_ms }) => [note, sample_ms])).toEqual([
    [undefined, undefined],
    ['What for.', 50],
    [undefined, undefined],
  ]);
  expect(toDocument(said).steps.map(({ name }) => name)).toEqual([undefined, 'second', undefined]);
});

it('puts every problem where it belongs', () => {
  const problem = (field: string | null): Problem => ({
    code: 'c',
    kind: 'invalid',
    field,
    detail: `${field}`,
    remedy: '',
  });
  const fields = ['steps[1].jobs[0].bs', 'steps[1].name', 'steps[2].jobs[0].direct', 'name', null];
  const found = problemsByStep(changeStep(draft, 0, { text: 'a b c' }), fields.map(problem));
  const told = [...found].filter(([, obstacles]) => obstacles.length > 0);
  const places = told.map(([step, obstacles]) => [
    step,
    obstacles.map(({ option, line }) => `${option} ${line}`),
  ]);
  expect(Object.fromEntries(places)).toEqual({
    0: ['null 0', 'null null'],
    1: ['bs 2', 'name null'],
    2: ['direct 3'],
    [-1]: ['name null', 'null null'],
  });
});

describe('in words', () => {
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
    ['', 'no job yet', ''],
  ];
  it.each(cases)('%j', (job, does, state) =>
    expect(stepSummary({ id: 1, name: '', text: job })).toMatchObject({ does, state }),
  );
});

it('asks the server only for what can be read', () => {
  expect(isComplete(draft)).toBe(true);
  expect(isComplete(changeStep(draft, 1, { text: '' }))).toBe(false);
  expect(isComplete(changeStep(draft, 1, { text: '[a]\n!\n' }))).toBe(false);
});
