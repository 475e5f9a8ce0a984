import { expect, it } from 'vitest';
import { panelsOf } from './panels';

it('names the base of CPU shares', () => {
  const cpu = panelsOf({ reads: true, writes: false, trims: false }).find(
    ({ key }) => key === 'cpu',
  );
  expect(cpu?.lines.map(({ label }) => label)).toEqual([
    'runner user (one core)',
    'runner system (one core)',
    'host (all cores)',
    'pressure',
  ]);
});
