import { expect, it } from 'vitest';
import type { Device } from '../../api';
import { deviceTree } from './device-tree';

const device = (name: string, ...parents: string[]) => ({ name, parents }) as unknown as Device;
const check = (devices: Device[]) =>
  deviceTree(devices).map(({ device, depth }) => '  '.repeat(depth) + device.name);

it('lists partitions below disks and volumes below partitions', () => {
  expect(
    check([
      device('dm-0', 'sda2'),
      device('sda'),
      device('sda1', 'sda'),
      device('sda2', 'sda'),
      device('sdb'),
    ]),
  ).toEqual(['sda', '  sda1', '  sda2', '    dm-0', 'sdb']);
});

it('lists an array once, below its first member', () => {
  expect(check([device('sda'), device('sdb'), device('md0', 'sda', 'sdb')])).toEqual([
    'sda',
    '  md0',
    'sdb',
  ]);
});

it('keeps devices with an unknown parent and in cycles', () => {
  expect(check([device('dm-0', 'missing'), device('loop0', 'loop0')])).toEqual(['dm-0', 'loop0']);
});
