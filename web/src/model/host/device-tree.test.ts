import { expect, it } from 'vitest';
import type { Device } from '../../api';
import { devicesByAccess, deviceTree, usableRows } from './device-tree';

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

it('sorts numbers in names by value', () => {
  expect(check([device('loop10'), device('loop9'), device('loop1')])).toEqual([
    'loop1',
    'loop9',
    'loop10',
  ]);
});

it('keeps usable devices and their ancestors', () => {
  const access = (name: string, allowed: boolean, ...parents: string[]) =>
    ({
      ...device(name, ...parents),
      read_access: { allowed },
      write_access: { allowed: false },
    }) as Device;
  const rows = usableRows(
    deviceTree([
      access('loop0', false),
      access('sda', false),
      access('sda1', false, 'sda'),
      access('sda2', true, 'sda'),
      access('dm-0', false, 'sda2'),
      access('sdb', true),
      access('sdb1', false, 'sdb'),
    ]),
  );
  expect(rows.map(({ device }) => device.name)).toEqual(['sda', 'sda2', 'sdb']);
});

it('separates devices by the access that the job needs, in natural order', () => {
  const access = (name: string, read: boolean, write: boolean) =>
    ({
      ...device(name),
      read_access: { allowed: read },
      write_access: { allowed: write },
    }) as Device;
  const devices = [access('sdb', true, true), access('loop10', false, false)];
  devices.push(access('loop9', false, false), access('sda', true, false));
  const names = (isWriting: boolean) =>
    Object.values(devicesByAccess(devices, isWriting)).map((part) => part.map(({ name }) => name));
  expect(names(false)).toEqual([
    ['sda', 'sdb'],
    ['loop9', 'loop10'],
  ]);
  expect(names(true)).toEqual([['sdb'], ['loop9', 'loop10', 'sda']]);
});
