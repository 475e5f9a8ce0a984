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
