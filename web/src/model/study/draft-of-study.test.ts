import { describe, expect, it } from 'vitest';
import type { Run, Study, StudyStep } from '../../api';
import { isComplete, toDocument } from './draft';
import { draftOfStudy } from './draft-of-study';

const MARK = '00c0ffee00c0ffee';
const job = (change: object = {}) => ({
  name: 'read',
  filename: `own-${MARK}.data`,
  rw: 'randread',
  bs: '8k',
  direct: 1,
  ...change,
});
const run = (number: number, change: object = {}, existed = number > 1) =>
  ({
    number,
    tags: ['nightly', `only-${number}`],
    requested: { jobs: [job(change)], sample_ms: 50 },
    resolved: [{ targets: [{ path: `/srv/${String(job(change).filename)}`, existed }] }],
  }) as unknown as Run;
const step = (place: number, change: Partial<StudyStep> = {}): StudyStep =>
  ({
    step: place,
    name: `step ${place}`,
    note: `why ${place}`,
    run: { number: place },
    ...change,
  }) as StudyStep;
const study = (...steps: StudyStep[]) =>
  ({
    number: 7,
    name: 'twice',
    about: 'Why it is done.',
    continue_on_failure: true,
    steps,
  }) as Study;

const draft = draftOfStudy(study(step(1), step(2, { note: null })), [
  run(1),
  run(2, { direct: 0 }),
]);
const texts = (runs: Run[]) =>
  draftOfStudy(study(...runs.map(({ number }) => step(number))), runs).steps.map(
    ({ text }) => text,
  );

describe('a study opened again', () => {
  it('has everything filled in', () => {
    expect(draft).toMatchObject({
      from: 7,
      name: 'twice',
      about: 'Why it is done.',
      continueOnFailure: true,
      active: 1,
    });
    expect(draft.steps.map(({ name, note }) => [name, note])).toEqual([
      ['step 1', 'why 1'],
      ['step 2', ''],
    ]);
    expect(draft.tags).toEqual(['nightly']);
  });

  it('posts the same again, with a mark of its own', () => {
    const own = { name: 'read', filename: 'own-$study.data', rw: 'randread', bs: '8k' };
    expect(toDocument(draft)).toEqual({
      name: 'twice',
      about: 'Why it is done.',
      tags: ['nightly'],
      continue_on_failure: true,
      steps: [
        { name: 'step 1', note: 'why 1', sample_ms: 50, jobs: [{ ...own, direct: '1' }] },
        { name: 'step 2', sample_ms: 50, jobs: [{ ...own, direct: '0' }] },
      ],
    });
  });

  it('leaves names alone that are nobody’s mark: of files that were there before', () => {
    expect(texts([run(1, {}, true), run(2)])[0]).toContain(`filename=own-${MARK}.data`);
    expect(
      texts([run(1, { filename: 'plain.data' }), run(2, { filename: 'plain.data' })])[0],
    ).toContain('filename=plain.data');
  });

  it('changes nothing but the names of files', () => {
    expect(texts([run(1, { description: MARK })])[0]).toContain(`description=${MARK}`);
  });

  it('keeps the place of a step whose run was deleted, and asks for its job', () => {
    const again = draftOfStudy(study(step(1, { run: null }), step(2)), [run(2)]);
    expect(again.steps.map(({ name, text }) => [name, text === ''])).toEqual([
      ['step 1', true],
      ['step 2', false],
    ]);
    expect(isComplete(again)).toBe(false);
  });
});
