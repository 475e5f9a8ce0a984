import { expect, it } from 'vitest';
import type { Run } from '../../api';
import { startsInMs } from './queue';

const NOW = 1_000_000;
const run = (change: Partial<Run>) =>
  ({ resolved: [{ startdelay_ms: 0, ramp_ms: 1000 }], measure_ms: 9000, ...change }) as Run;
const running = (change: Partial<Run> = {}) =>
  run({ status: 'measuring', started_at_ms: NOW - 4000, ...change });
const queued = (change: Partial<Run> = {}) => run({ status: 'queued', ...change });

it.each<[string, number | null, Run[]]>([
  ['a running run', 6000, [running()]],
  ['a queued and a running run', 16_000, [queued(), running()]],
  ['a run that takes longer than planned', 0, [running({ started_at_ms: NOW - 60_000 })]],
  ['a run limited by size', null, [running({ measure_ms: null })]],
  ['more runs than are listed', null, [queued()]],
  ['no specific run', null, []],
])('estimates the start after %s', (_, expected, ahead) =>
  expect(startsInMs(ahead, NOW)).toBe(expected),
);
