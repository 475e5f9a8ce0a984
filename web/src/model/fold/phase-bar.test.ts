import { expect, it } from 'vitest';
import type { Accepted } from '../../api';
import { phaseBar } from './phase-bar';
import { RunFold } from './run-fold';

it.each([
  ['read', false],
  ['randwrite', true],
  ['randrw', true],
])('a %s with end_fsync has a flush: %s', (rw, expected) => {
  const fold = new RunFold('preparing');
  fold.accepted = { jobs: [{ rw, end_fsync: true, targets: [] }] } as unknown as Accepted;
  expect(phaseBar(fold, 0).some(({ phase }) => phase === 'flush')).toBe(expected);
});

it.each([
  [30, 4800, 'Measure 4.8 of 30 s'],
  [120, 4800, 'Measure 4 s of 2 min'],
  [120, 75_300, 'Measure 1 min 15 s of 2 min'],
])('of %d s, %d ms after its start: %s', (runtime_s, elapsed_ms, label) => {
  const fold = new RunFold('measuring');
  fold.accepted = {
    jobs: [{ rw: 'read', targets: [] }],
    measure_ms: runtime_s * 1000,
  } as unknown as Accepted;
  fold.phases = [{ phase: 'measure', begin_ms: 0 }] as unknown as RunFold['phases'];
  const [part] = phaseBar(fold, elapsed_ms);
  expect(part?.label.replaceAll('\u00a0', ' ')).toBe(label);
});
