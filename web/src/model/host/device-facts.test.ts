import { expect, it } from 'vitest';
import type { Device } from '../../api';
import { deviceFacts } from './device-facts';

const DISK: Device = {
  name: 'vda',
  path: '/dev/vda',
  dev: '254:0',
  kind: 'disk',
  identity: 'serial:abc',
  links: ['/dev/disk/by-id/virtio-abc', '/dev/disk/by-path/pci-1'],
  size_bytes: 256 * 2 ** 30,
  model: null,
  serial: 'abc',
  rotational: true,
  removable: null,
  read_only: false,
  scheduler: 'none',
  logical_block_bytes: 512,
  physical_block_bytes: 4096,
  write_cache: 'write back',
  read_ahead_bytes: 8 * 2 ** 20,
  nr_requests: 128,
  mounts: [{ point: '/', filesystem: 'ext4', options: 'rw,relatime' }],
  filesystem: 'ext4',
  backing_file: null,
  used_by: ['mounted at / (ext4)'],
  read_access: { allowed: true },
  write_access: { allowed: false, reason: '/dev/vda is in use.' },
  parents: [],
};

const rows = (device: Device) =>
  deviceFacts(device).map(({ title, facts }) => [
    title,
    ...facts.map(({ name, values }) => `${name}: ${values.join(' | ')}`.replaceAll('\u00a0', ' ')),
  ]);

it('groups facts, adds units, and omits unknown facts', () =>
  expect(rows(DISK)).toEqual([
    [
      'Identity',
      'Serial number: abc',
      'Stable ID: serial:abc',
      'Path: /dev/vda',
      'Device number: 254:0',
      'Links: /dev/disk/by-id/virtio-abc | /dev/disk/by-path/pci-1',
    ],
    [
      'Geometry',
      'Size: 256 GiB (274,877,906,944 B)',
      'Logical block: 512 B',
      'Physical block: 4 KiB',
      'Rotational: Yes',
      'Read-only: No',
    ],
    [
      'Queue and cache',
      'Scheduler: none',
      'Queue length: 128 requests',
      'Write cache: Write back',
      'Read-ahead: 8 MiB',
    ],
    ['Usage', 'Filesystem: ext4', 'Mounts: / (rw, relatime)', 'Used by: mounted at / (ext4)'],
    ['Access', 'Read access: Allowed', 'Write access: Not allowed: /dev/vda is in use.'],
  ]));

it('names a missing identity and an unused device', () => {
  const text = rows({ ...DISK, identity: null, used_by: [], nr_requests: 0 }).flat();
  expect(text).toContain('Stable ID: None');
  expect(text).toContain('Used by: Not in use');
  expect(text).toContain('Queue length: 0 requests');
});
