import { describe, expect, it } from 'vitest';
import type { ImportNote } from '../../api';
import { needsImport, toSteps, toStudy, withReplacement } from './import';

const note: ImportNote = {
  line: 2,
  column: 9,
  length: 5,
  severity: 'error',
  code: 'seconds_suffix',
  sentence: '',
  remedy: 'Write 10s.',
  replacement: '10s',
};

describe('an import', () => {
  it('is needed for commands, not for job files', () => {
    for (const text of [
      'fio --name=a --rw=read',
      '$ sudo fio --name=a',
      '/usr/bin/fio --name=a',
      'diskspd.exe -b8k F:\\a.dat',
      'C:\\tools\\DiskSpd.exe -b8k F:\\a.dat',
      'dd if=/dev/zero of=test bs=1M count=1024 oflag=direct',
      'sudo ioping -R /dev/sda',
      './vdbench -f parmfile',
    ])
      expect(needsImport(text), text).toBe(true);
    for (const text of ['[j]\nrw=read', '# fio job.fio\n[j]\nrw=read', 'rw=read', 'iodepth=4', ''])
      expect(needsImport(text), text).toBe(false);
  });

  it('replaces the part of the text that a note refers to', () => {
    expect(withReplacement('[j]\nruntime=10sec\nrw=read', note)).toBe('[j]\nruntime=10s\nrw=read');
    expect(withReplacement('[ö😀]\nö😀ö😀=abc10sec', { ...note, column: 9 })).toBe(
      '[ö😀]\nö😀ö😀=abc10s',
    );
  });

  it('writes the jobs of a run as one job file', () => {
    const document = { jobs: [{ name: 'a', rw: 'read', bs: '4k', direct: 1 }] };
    expect(toSteps({ document })).toEqual([{ name: 'a', text: '[a]\nrw=read\nbs=4k\ndirect=1\n' }]);
    expect(toSteps({ document: null })).toEqual([]);
  });

  it('makes a study with several steps', () => {
    const steps = [{ jobs: [{ name: 'a', rw: 'read' }] }, { jobs: [{ name: 'b', rw: 'write' }] }];
    const study = toStudy({ document: { continue_on_failure: true, steps } });
    expect(study.steps.map(({ text }) => text)).toEqual(['[a]\nrw=read\n', '[b]\nrw=write\n']);
    expect(study).toMatchObject({ continueOnFailure: true, active: 1 });
  });
});
