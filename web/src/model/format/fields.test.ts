import { expect, it } from 'vitest';
import { fieldRows } from './fields';

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

it('derives units from field names', () => {
  const rows = fieldRows(
    {
      size_bytes: 4096,
      runtime_ms: 30_000,
      thinktime_us: 500,
      direct: true,
      absent: {},
      cpus_allowed: [],
      rate: { read: null, write: 1024 },
      rate_iops: { read: 500, write: null },
      blockalign: { read: 4096, write: 512 },
      bs: { read: { min: 4096, max: 65_536, split: [] } },
      targets: [{ alignment: 512 }],
      percentage_random: { read: 50 },
      dedupe_percentage: 25,
      rwmixread: 70,
      iodepth: 1024,
      name: 'x',
    },
    ['name'],
  );
  expect(Object.fromEntries(rows.map(([name, value]) => [name, plain(value)]))).toEqual({
    size_bytes: '4 KiB',
    runtime_ms: '30 s',
    thinktime_us: '500 µs',
    direct: 'yes',
    absent: '–',
    cpus_allowed: 'any',
    rate: 'read –, write 1 KiB/s',
    rate_iops: 'read 500 IOPS, write –',
    blockalign: 'read 4 KiB, write 512 B',
    bs: 'read min 4 KiB, max 64 KiB, split none',
    targets: 'alignment 512 B',
    percentage_random: 'read 50 %',
    dedupe_percentage: '25 %',
    rwmixread: '70 %',
    iodepth: '1,024',
  });
});
