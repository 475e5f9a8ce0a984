import { describe, expect, it } from 'vitest';
import type { Run, Study, StudyStep } from '../../api';
import { isComplete, toDocument } from './draft';
import { draftOfStudy } from './draft-of-study';

const FILE_ID = '00c0ffee00c0ffee';
const job = (change: object = {}) => ({
  name: 'read',
  filename: `own-${FILE_ID}.data`,
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
const step = (number: number, change: Partial<StudyStep> = {}): StudyStep =>
  ({
    step: number,
    repeat: 1,
    sweep: [],
    name: `step ${number}`,
    note: `why ${number}`,
    run: { number },
    ...change,
  }) as StudyStep;
const study = (...steps: StudyStep[]) =>
  ({
    number: 7,
    name: 'twice',
    about: 'Purpose of the study.',
    continue_on_failure: true,
    repeats: 1,
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

describe('draftOfStudy', () => {
  it('copies all fields', () => {
    expect(draft).toMatchObject({
      from: 7,
      name: 'twice',
      about: 'Purpose of the study.',
      continueOnFailure: true,
      active: 1,
    });
    expect(draft.steps.map(({ name, note }) => [name, note])).toEqual([
      ['step 1', 'why 1'],
      ['step 2', ''],
    ]);
    expect(draft.tags).toEqual(['nightly']);
  });

  it('posts the same document with a new file ID', () => {
    const own = { name: 'read', filename: 'own-$study.data', rw: 'randread', bs: '8k' };
    expect(toDocument(draft)).toEqual({
      name: 'twice',
      about: 'Purpose of the study.',
      tags: ['nightly'],
      continue_on_failure: true,
      steps: [
        { name: 'step 1', note: 'why 1', sample_ms: 50, jobs: [{ ...own, direct: '1' }] },
        { name: 'step 2', sample_ms: 50, jobs: [{ ...own, direct: '0' }] },
      ],
    });
  });

  it('keeps names of pre-existing files', () => {
    expect(texts([run(1, {}, true), run(2)])[0]).toContain(`filename=own-${FILE_ID}.data`);
    expect(
      texts([run(1, { filename: 'plain.data' }), run(2, { filename: 'plain.data' })])[0],
    ).toContain('filename=plain.data');
  });

  it('replaces the ID only in file names', () => {
    expect(texts([run(1, { description: FILE_ID })])[0]).toContain(`description=${FILE_ID}`);
  });

  it('copies a sweep once per step', () => {
    const cell = (number: number, value: string) =>
      step(number, { name: `step bs=${value}`, sweep: [{ option: 'bs', value }] });
    const copy = draftOfStudy(study(cell(1, '4k'), cell(2, '8k')), [run(1), run(2)]);
    expect(copy.steps.map(({ name }) => name)).toEqual(['step']);
    expect(toDocument(copy).sweep).toEqual([{ option: 'bs', values: ['4k', '8k'] }]);
  });

  it('copies swept values with commas', () => {
    const cell = (number: number, value: string) =>
      step(number, { name: `step bs=${value}`, sweep: [{ option: 'bs', value }] });
    const copy = draftOfStudy(study(cell(1, '4k,8k'), cell(2, '8k')), [run(1), run(2)]);
    expect(copy.sweep).toEqual([{ option: 'bs', values: '"4k,8k" 8k' }]);
    expect(toDocument(copy).sweep).toEqual([{ option: 'bs', values: ['4k,8k', '8k'] }]);
  });

  it('copies the order seed of repeated steps', () => {
    const repeated = { ...study(step(1)), repeats: 3, order_seed: 0 } as Study;
    expect(toDocument(draftOfStudy(repeated, [run(1)])).order_seed).toBe(0);
    expect(toDocument(draftOfStudy({ ...repeated, repeats: 1 }, [run(1)])).order_seed).toBe(
      undefined,
    );
  });

  it('keeps steps with a deleted run, without text', () => {
    const copy = draftOfStudy(study(step(1, { run: null }), step(2)), [run(2)]);
    expect(copy.steps.map(({ name, text }) => [name, text === ''])).toEqual([
      ['step 1', true],
      ['step 2', false],
    ]);
    expect(isComplete(copy)).toBe(false);
  });
});
