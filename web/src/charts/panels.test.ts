import { expect, it } from 'vitest';
import { getPanels } from './panels';

it('labels CPU shares with the cores they refer to', () => {
  const cpu = getPanels({ reads: true, writes: false, trims: false }).find(
    ({ key }) => key === 'cpu',
  );
  expect(cpu?.lines.map(({ label }) => label)).toEqual([
    'Runner user (one core)',
    'Runner system (one core)',
    'Host (all cores)',
    'I/O pressure',
  ]);
});
