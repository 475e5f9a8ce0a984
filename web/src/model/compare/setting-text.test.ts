import { expect, it } from 'vitest';
import { formatSetting } from './setting-text';

const plain = (s: string) => s.replaceAll('\u00a0', ' ');

it.each([
  ['targets.layout_bytes', '268435456', '256 MiB'],
  ['ramp_ms', '1000', '1 s'],
  ['iodepth', '8', '8'],
  ['rw', 'randread', 'randread'],
  ['bs', '4096-65536', '4 KiB to 64 KiB'],
  ['jobs[1].bs', '4096,8192,4096', 'read 4 KiB, write 8 KiB, trim 4 KiB'],
  ['bs', '4096-8192,4096,4096', 'read 4 KiB to 8 KiB, write 4 KiB, trim 4 KiB'],
  ['bs', 'bytes=4096/percent=60 bytes=65536/percent=40', '4 KiB 60 %, 64 KiB 40 %'],
  ['rate', '1048576', '1 MiB/s'],
  ['rate', '1048576,-,-', 'read 1 MiB/s, write –, trim –'],
  ['rate_iops', '1000', '1,000 IOPS'],
  ['targets.length', '1073741824 536870912', '1 GiB, 512 MiB'],
  ['targets.alignment', '512 4096', '512 B, 4 KiB'],
  ['dedupe_percentage', '25', '25 %'],
  ['percentage_random', '100,50,100', 'read 100 %, write 50 %, trim 100 %'],
  ['cpus_allowed', '0 1', '0 1'],
  ['kernel', '6.10', '6.10'],
  ['targets.path', '/a,4096,8192', '/a,4096,8192'],
  ['size', 'as the file', 'as the file'],
])('formats %s=%s as %s', (name, value, expected) =>
  expect(plain(formatSetting(name, value))).toBe(expected),
);
