import { expect, it } from 'vitest';
import type { ResolvedJob } from '../../api';
import { toFioJobText } from './export';

const run = (...jobs: Record<string, unknown>[]) => ({ requested: { jobs, sample_ms: 100 } });

it('names the engine that fio would not choose by itself', () => {
  expect(toFioJobText(run({ name: 'a', rw: 'randread', iodepth: 32 }))).toContain(
    'ioengine=io_uring\n',
  );
  expect(toFioJobText(run({ name: 'a', ioengine: 'psync' }))).not.toContain('io_uring');
});

it('leaves out what fio does not know, and says so', () => {
  const text = toFioJobText(
    run({ name: 'a', rw: 'read', cache_state: 'cold' }, { name: 'b', rw: 'read', profile: 1 }),
  );
  expect(text).toContain(
    '; Leadline’s own, which fio does not have: a: cache_state=cold, b: profile=1',
  );
  expect(text).not.toMatch(/^(cache_state|profile)=/m);
  expect(toFioJobText(run({ name: 'a', rw: 'read' }))).not.toContain(';');
});

it('leaves out values that fio does not know, and does no I/O where the run did none', () => {
  const text = toFioJobText(
    run({
      name: 'a',
      loop: 1,
      fallocate: 'written',
      mem: 'thp',
      ioengine: 'io_uring_nop',
      rw: 'write',
    }),
  );
  expect(text).toBe(
    '; Leadline’s own, which fio does not have: a: loop=1, a: fallocate=written, a: mem=thp, a: ioengine=io_uring_nop\n' +
      '[a]\nioengine=null\nrw=write\n',
  );
  expect(toFioJobText(run({ name: 'a', fallocate: 'none', mem: 'mmaphuge' }))).toContain(
    'fallocate=none\nmem=mmaphuge\n',
  );
});

it('names files by their whole paths, where they are known', () => {
  const at = (...paths: string[]) =>
    ({ targets: paths.map((path) => ({ kind: 'file', path })) }) as unknown as ResolvedJob;
  const jobs = [
    { name: 'a', filename: 't1:t2', directory: 'deep' },
    { name: 'b' },
    { name: 'c', filename: 't1' },
  ];
  const resolved = [
    at('/d/deep/t1', '/d/deep/t2', '/d/deep/t1'),
    at('/d/b.0.0', '/d/b.1.0'),
    at('/d:1/t1'),
  ];
  const text = toFioJobText({ ...run(...jobs), resolved });
  expect(text).toContain('[a]\nfilename=/d/deep/t1:/d/deep/t2\n');
  expect(text).toContain('[b]\ndirectory=/d\n');
  expect(text).toContain('[c]\nfilename=/d\\:1/t1\n');
  const stable = run({ name: 'a', filename: '/dev/disk/by-id/x\\:1' });
  expect(toFioJobText({ ...stable, resolved: [at('/dev/vdb')] })).toContain(
    'filename=/dev/disk/by-id/x\\:1\n',
  );
});
