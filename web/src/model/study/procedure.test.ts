import { expect, it } from 'vitest';
import type { Procedure, Run, Study } from '../../api';
import { newDraft, toDocument } from './draft';
import { draftOfStudy } from './draft-of-study';
import { withTest } from './procedure';

it('keeps the target of the job and drops options that the test sets', () => {
  const draft = newDraft(
    '[a]\nfilename=/dev/d\nsize=1g\nrw=randread\nbs=4k\nruntime=9\ndirect=1\n',
  );
  const test = withTest(draft, { test: 'latency', class: 'client' });
  expect(toDocument(test)).toEqual({
    snia: { test: 'latency', class: 'client' },
    steps: [
      {
        jobs: [
          { filename: '/dev/d', size: '1g', name: 'job', direct: '1', iodepth: '1', numjobs: '1' },
        ],
      },
    ],
  });
  expect(toDocument(withTest(test, undefined)).snia).toBeUndefined();
});

it('copies a test with its settings', () => {
  const procedure: Procedure = {
    kind: 'snia',
    test: 'iops',
    class: 'enterprise',
    purge: 'discard',
    cell_seconds: 1,
    max_rounds: 5,
    mixes: [100, 0],
    blocks: [65536, 512],
  };
  const run = {
    number: 1,
    tags: [],
    requested: {
      jobs: [{ name: 'RW100 64k', filename: 'f', direct: 1, rw: 'randread', startdelay: 0 }],
    },
    resolved: [],
  } as unknown as Run;
  const study = { number: 7, name: 'pts', procedure, steps: [] } as unknown as Study;
  expect(toDocument(draftOfStudy(study, [run]))).toEqual({
    name: 'pts',
    snia: {
      test: 'iops',
      class: 'enterprise',
      purge: 'discard',
      cell_seconds: 1,
      max_rounds: 5,
      mixes: [100, 0],
      blocks: ['64k', '512'],
    },
    steps: [{ jobs: [{ name: 'job', filename: 'f', direct: '1' }] }],
  });
});
