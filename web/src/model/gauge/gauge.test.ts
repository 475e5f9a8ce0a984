import { describe, expect, it } from 'vitest';
import type { DeviceCounts, Verdict } from '../../api';
import { gaugeOf } from './gauge';
import { gaugeText } from './gauge-text';
import type { GaugeInput, LayerFlow } from './layer-flow';

const plain = (s: string) => s.replaceAll('\u00a0', ' ');
const NONE: LayerFlow = { ios: 0, bytes: 0 };
const COUNTS: DeviceCounts = {
  read_ios: 0,
  read_bytes: 0,
  read_merges: 0,
  read_ticks_ms: 0,
  write_ios: 0,
  write_bytes: 0,
  write_merges: 0,
  write_ticks_ms: 0,
  discard_ios: 0,
  discard_bytes: 0,
  flush_ios: 0,
  in_flight: 0,
  busy_ms: 0,
};
const GIB = 2 ** 30;
const reads = (ios: number, bytes: number, merges = 0): DeviceCounts => ({
  ...COUNTS,
  read_ios: ios,
  read_bytes: bytes,
  read_merges: merges,
  write_ios: 77,
  write_bytes: 77 * 4096,
});
const writes = (ios: number, bytes: number): DeviceCounts => ({
  ...COUNTS,
  write_ios: ios,
  write_bytes: bytes,
});

function check(input: Partial<GaugeInput>) {
  return gaugeOf({
    read: NONE,
    write: NONE,
    trim: NONE,
    device: null,
    physical_devices: null,
    direct: false,
    mode: 'buffered',
    ...input,
  });
}

describe('the seven gauges of the design', () => {
  it.each<[string, Partial<GaugeInput>, number, string | RegExp, number]>([
    [
      'direct',
      {
        read: { ios: 262_144, bytes: GIB },
        device: reads(262_140, GIB),
        physical_devices: reads(262_140, GIB),
        direct: true,
        mode: 'direct',
      },
      3,
      'bypassed',
      1,
    ],
    [
      'cache fills',
      {
        read: { ios: 2560, bytes: 2560 * 4096 },
        device: reads(1121, 1121 * 4096),
        physical_devices: reads(1121, 1121 * 4096),
      },
      1,
      '56 % served from memory',
      1,
    ],
    [
      'all memory',
      {
        read: { ios: 853_333, bytes: 853_333 * 4096 },
        device: reads(0, 0),
        physical_devices: reads(0, 0),
      },
      1,
      'served from memory',
      1,
    ],
    [
      'readahead',
      {
        read: { ios: 262_144, bytes: GIB },
        device: reads(4156, GIB, 27),
        physical_devices: reads(4156, GIB, 27),
      },
      3,
      'readahead: 63 reads per I/O',
      1,
    ],
    [
      'deferred writes',
      {
        write: { ios: 1_580_000, bytes: 1_580_000 * 8192 },
        device: writes(402, 402 * 244 * 1024),
        physical_devices: writes(402, 402 * 244 * 1024),
      },
      1,
      /not yet written/,
      1,
    ],
    [
      'amplified',
      {
        write: { ios: 10_000, bytes: 10_000 * 4096 },
        device: writes(10_000, 10_000 * 4096),
        physical_devices: writes(21_400, 26_000 * 4096),
        direct: true,
        mode: 'direct',
      },
      3,
      /2\.6 ×/,
      2,
    ],
    [
      'unwritten extents',
      {
        read: { ios: 1_103_656, bytes: 1_103_656 * 4096 },
        device: reads(231, 231 * 4096),
        physical_devices: reads(231, 231 * 4096),
        direct: true,
        mode: 'direct',
      },
      2,
      /never written/,
      2,
    ],
  ])('%s', (_, input, servedBy, note, layer) => {
    const gauge = check(input);
    expect(gauge.servedBy).toBe(servedBy);
    expect(gauge.notes[layer as 1 | 2]).toMatch(note);
  });
});

it('ignores directions that the job did not use', () => {
  expect(
    check({ read: { ios: 1, bytes: 4096 }, device: reads(0, 0), physical_devices: reads(0, 0) })
      .reached,
  ).toEqual(NONE);
});

it('counts merged I/Os as past the cache', () => {
  expect(
    check({
      read: { ios: 100, bytes: 409_600 },
      device: reads(60, 409_600, 40),
      physical_devices: reads(60, 409_600, 40),
    }).pastCache?.ios,
  ).toBe(100);
});

it('is unknown without device counters', () => {
  const gauge = check({ read: { ios: 100, bytes: 409_600 } });
  expect([gauge.pastCache, gauge.reached, gauge.notes[3]]).toEqual([null, null, 'not counted']);
});

it('stays in the application with ioengine=null', () => {
  const { servedBy, pastCache, reached } = check({ read: { ios: 9, bytes: 9 }, mode: 'null' });
  expect([servedBy, pastCache, reached]).toEqual([0, NONE, NONE]);
});

const MIB = 2 ** 20;
const storage = (read_bytes: number, write_bytes = 0) => ({
  read_bytes,
  write_bytes,
  cancelled_write_bytes: 0,
});
const verdict = (shares: Record<string, number>, change: Partial<Verdict> = {}): Verdict => ({
  class: 'device',
  sentence: '',
  shares,
  uncertainty: 0,
  evidence: {},
  proof: [],
  ...change,
});

describe('with verdicts and process counters', () => {
  it.each<[string, Partial<GaugeInput>, number, number, RegExp]>([
    [
      'the filesystem serves buffered reads of holes',
      {
        read: { ios: 1000, bytes: GIB },
        device: reads(0, 0),
        physical_devices: reads(0, 0),
        verdicts: { read: verdict({ unwritten: 1, device: 0 }) },
      },
      2,
      2,
      /never written/,
    ],
    [
      'the page cache serves direct reads that fell back',
      {
        read: { ios: 1000, bytes: GIB },
        direct: true,
        device: reads(0, 0),
        physical_devices: reads(0, 0),
        verdicts: { read: verdict({ page_cache: 1, device: 0 }) },
      },
      1,
      1,
      /served from memory/,
    ],
    [
      'dirty memory is noted in bytes',
      {
        write: { ios: 1000, bytes: GIB },
        device: writes(10, 100 * MIB),
        physical_devices: writes(10, 100 * MIB),
        waiting_bytes: 924 * MIB,
      },
      1,
      1,
      /^924.MiB still in memory, not yet written$/,
    ],
    [
      'foreign reads are noted separately',
      {
        read: { ios: 1000, bytes: 4 * MIB },
        device: reads(3000, 64 * MIB),
        physical_devices: reads(3000, 64 * MIB),
        direct: true,
        storage: storage(4 * MIB),
      },
      3,
      3,
      /^plus 60\.3.MiB of foreign I\/O$/,
    ],
  ])('%s', (_, input, servedBy, layer, note) => {
    const gauge = check(input);
    expect(gauge.servedBy).toBe(servedBy);
    expect(gauge.notes[layer as 1 | 2 | 3]).toMatch(note);
  });

  it('subtracts foreign I/O from the device', () => {
    const gauge = check({
      read: { ios: 1000, bytes: 4 * MIB },
      device: reads(4000, 64 * MIB),
      physical_devices: reads(4000, 64 * MIB),
      storage: storage(4 * MIB),
    });
    expect([gauge.reached, gauge.foreign]).toEqual([
      { ios: 250, bytes: 4 * MIB },
      { ios: 3750 + 77, bytes: 60 * MIB + 77 * 4096, source: 'foreign' },
    ]);
  });

  it.each<[string, Partial<GaugeInput>, number | null]>([
    [
      'are unknown when the filesystem writes',
      { write: { ios: 1, bytes: MIB }, device: writes(9, 99 * MIB), storage: storage(0, MIB) },
      null,
    ],
    [
      'follow from the verdict',
      {
        write: { ios: 1, bytes: MIB },
        device: writes(9, 99 * MIB),
        storage: storage(0, MIB),
        verdicts: { write: verdict({}, { class: 'foreign', evidence: { own_bytes: MIB } }) },
      },
      98 * MIB,
    ],
    [
      'are all writes of a read job',
      {
        read: { ios: 1, bytes: MIB },
        device: { ...writes(9, 99 * MIB) },
        storage: storage(MIB, 0),
      },
      99 * MIB,
    ],
    [
      'are omitted when small',
      { read: { ios: 1, bytes: 4096 }, device: reads(9, 3 * MIB), storage: storage(4096) },
      null,
    ],
    [
      'are unknown without process counters',
      { read: { ios: 1, bytes: MIB }, device: reads(9, 99 * MIB) },
      null,
    ],
  ])('foreign bytes %s', (_, input, bytes) =>
    expect(check({ physical_devices: input.device ?? null, ...input }).foreign?.bytes ?? null).toBe(
      bytes,
    ),
  );
});

describe('buffered writes with a verdict', () => {
  // 7.5 GiB were dirty at the end of the measurement; the device wrote 70 MiB in 560 I/Os.
  const issued = { ios: 983_040, bytes: 7.5 * GIB };
  const gauge = (own_bytes: number, change: Partial<Verdict> = {}) =>
    check({
      write: issued,
      device: writes(560, 70 * MIB),
      physical_devices: writes(560, 70 * MIB),
      storage: storage(0, issued.bytes),
      waiting_bytes: issued.bytes,
      verdicts: {
        write: verdict(
          { page_cache: 1, device: 0 },
          { class: 'deferred_write', evidence: { own_bytes }, ...change },
        ),
      },
    });

  it('show all device writes as foreign if the job had none', () => {
    const { pastCache, reached, foreign, servedBy, notes } = gauge(0);
    expect([pastCache, reached, servedBy]).toEqual([NONE, NONE, 1]);
    expect(foreign).toEqual({
      ios: 560,
      bytes: 70 * MIB,
      source: 'foreign and filesystem',
    });
    expect(notes[3]).toMatch(/^plus 70.MiB of foreign and filesystem I\/O$/);
  });

  it('split device writes between the job and foreign I/O', () => {
    const { pastCache, reached, foreign } = gauge(14 * MIB);
    expect([pastCache, reached]).toEqual([
      { ios: 112, bytes: 14 * MIB },
      { ios: 112, bytes: 14 * MIB },
    ]);
    expect((reached?.bytes ?? 0) + (foreign?.bytes ?? 0)).toBe(70 * MIB);
  });

  it('count all device writes for the job if it had more', () => {
    const { reached, foreign, notes } = gauge(80 * MIB);
    expect([reached?.bytes, foreign, notes[3]]).toEqual([70 * MIB, null, '']);
  });

  it.each<[string, Partial<Verdict>]>([
    ['without evidence', { evidence: {} }],
    ['if amplified', { class: 'amplified' }],
  ])('count all device writes for the job %s', (_, change) =>
    expect(gauge(0, change).reached).toEqual({ ios: 560, bytes: 70 * MIB }),
  );

  it('have a description', () => {
    expect(plain(gaugeText(gauge(0), 'vda') ?? '')).toBe(
      '983,040 I/Os issued; vda served 0 (0 % of the bytes). It also moved 70 MiB of foreign and filesystem I/O.',
    );
  });
});

it('does not count a few foreign reads for the job', () => {
  const gauge = check({
    read: { ios: 900, bytes: GIB },
    device: reads(60, 3 * MIB, 12),
    physical_devices: reads(60, 3 * MIB),
    storage: storage(0),
  });
  expect([gauge.pastCache, gauge.reached, gauge.foreign, gauge.servedBy]).toEqual([
    NONE,
    NONE,
    null,
    1,
  ]);
});

it('counts direct reads as issued, independent of foreign reads', () => {
  const device = reads(1100, 8 * MIB);
  const gauge = check({
    read: { ios: 1000, bytes: 4 * MIB },
    device,
    physical_devices: device,
    direct: true,
    mode: 'direct',
    storage: storage(4 * MIB),
  });
  expect(gauge.reached).toEqual({ ios: 1000, bytes: 4 * MIB });
});
