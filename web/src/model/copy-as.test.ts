import { expect, it } from 'vitest';
import { forFio } from './copy-as';

const run = (...jobs: Record<string, unknown>[]) => ({ asked: { jobs, sample_ms: 100 } });

it('names the engine that fio would not choose by itself', () => {
  expect(forFio(run({ name: 'a', rw: 'randread', iodepth: 32 }))).toContain('ioengine=io_uring\n');
  expect(forFio(run({ name: 'a', ioengine: 'psync' }))).not.toContain('io_uring');
});

it('leaves out what fio does not know, and says so', () => {
  const text = forFio(run({ name: 'a', rw: 'read', cache_state: 'cold' }, { name: 'b', rw: 'read', profile: 1 }));
  expect(text).toContain('; Leadline’s own, which fio does not have: a: cache_state=cold, b: profile=1');
  expect(text).not.toMatch(/^(cache_state|profile)=/m);
  expect(forFio(run({ name: 'a', rw: 'read' }))).not.toContain(';');
});
