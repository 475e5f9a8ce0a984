import { expect, it } from 'vitest';
import type { ResolvedJob, Run } from '../../api';
import { toCurl, toFioJobText, toJobText } from './export';

const run = (...jobs: Record<string, unknown>[]) => ({ requested: { jobs, sample_ms: 100 } });
const RUN = {
  name: "it's",
  tags: ['a'],
  requested: { jobs: [{ name: 't1', rw: 'randread', direct: 1 }], sample_ms: 100 },
} as unknown as Run;

it('sets the engine explicitly', () => {
  expect(toFioJobText(run({ name: 'a', rw: 'randread', iodepth: 32 }))).toContain(
    'ioengine=io_uring\n',
  );
  expect(toFioJobText(run({ name: 'a', ioengine: 'psync' }))).not.toContain('io_uring');
});

it('lists unsupported options in a comment', () => {
  const text = toFioJobText(
    run({ name: 'a', rw: 'read', cache_state: 'cold' }, { name: 'b', rw: 'read', profile: 1 }),
  );
  expect(text).toContain('; Not supported by fio: a: cache_state=cold, b: profile=1');
  expect(text).not.toMatch(/^(cache_state|profile)=/m);
  expect(toFioJobText(run({ name: 'a', rw: 'read' }))).not.toContain(';');
});

it('omits unsupported values and maps the engine without I/O', () => {
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
    '; Not supported by fio: a: loop=1, a: fallocate=written, a: mem=thp, a: ioengine=io_uring_nop\n' +
      '[a]\nioengine=null\nrw=write\n',
  );
  expect(toFioJobText(run({ name: 'a', fallocate: 'none', mem: 'mmaphuge' }))).toContain(
    'fallocate=none\nmem=mmaphuge\n',
  );
});

it('uses absolute paths if known', () => {
  const resolvedAs = (...paths: string[]) =>
    ({ targets: paths.map((path) => ({ kind: 'file', path })) }) as unknown as ResolvedJob;
  const jobs = [
    { name: 'a', filename: 't1:t2', directory: 'deep' },
    { name: 'b' },
    { name: 'c', filename: 't1' },
  ];
  const resolved = [
    resolvedAs('/d/deep/t1', '/d/deep/t2', '/d/deep/t1'),
    resolvedAs('/d/b.0.0', '/d/b.1.0'),
    resolvedAs('/d:1/t1'),
  ];
  const text = toFioJobText({ ...run(...jobs), resolved });
  expect(text).toContain('[a]\nfilename=/d/deep/t1:/d/deep/t2\n');
  expect(text).toContain('[b]\ndirectory=/d\n');
  expect(text).toContain('[c]\nfilename=/d\\:1/t1\n');
  const stable = run({ name: 'a', filename: '/dev/disk/by-id/x\\:1' });
  expect(toFioJobText({ ...stable, resolved: [resolvedAs('/dev/vdb')] })).toContain(
    'filename=/dev/disk/by-id/x\\:1\n',
  );
});

it('writes the requested jobs as text', () =>
  expect(toJobText(RUN)).toBe('[t1]\nrw=randread\ndirect=1\n'));

it('quotes a curl command for the shell', () => {
  const command = toCurl(RUN, 'http://127.0.0.1:7070');
  expect(command).toContain('curl -sS http://127.0.0.1:7070/api/v1/runs');
  expect(command).toContain("it'\\''s");
  const body = /-d '([\s\S]*)'$/.exec(command.replaceAll("'\\''", '’'))?.[1];
  expect(JSON.parse(body ?? '')).toEqual({
    name: 'it’s',
    tags: ['a'],
    sample_ms: 100,
    jobs: RUN.requested.jobs,
  });
});
