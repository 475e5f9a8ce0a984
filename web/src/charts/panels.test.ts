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

it.each([
  ['reads', ['Application', 'Device reads', 'Device writes']],
  ['writes', ['Application', 'Device writes', 'Device reads']],
  ['trims', ['Application', 'Device discards', 'Device writes', 'Device reads']],
])('shows device I/O in all directions if the run only %s', (direction, labels) => {
  const directions = { reads: false, writes: false, trims: false, [direction]: true };
  const [iops] = getPanels(directions);
  expect(iops?.lines.map(({ label }) => label)).toEqual(labels);
});

it('adds up all directions of device I/O if the run mixes directions', () => {
  const [iops] = getPanels({ reads: true, writes: false, trims: true });
  expect(iops?.lines.at(-1)).toMatchObject({
    label: 'Device',
    columns: ['device_read_iops', 'device_write_iops', 'device_discard_iops'],
  });
});
