import { describe, expect, it } from 'vitest';
import type { Run, RunSummary, Verdicts } from '../../api';
import { ApiProblem } from '../../api/problem';
import { fieldRows } from '../format/fields';
import { errorText } from '../format/problem-text';
import { toCurl, toJobText } from '../job/export';
import { describeRun, directionsOf, runTitle } from './summary';
import { verdictLines } from './verdict';

const plain = (s: string) => s.replaceAll('\u00a0', ' ');
const RUN = {
  name: "it's",
  rw: 'randread',
  bs: '4k',
  iodepth: 32,
  numjobs: 1,
  direct: true,
  target: '/data/t1',
  device: 'vda',
  tags: ['a'],
  requested: { jobs: [{ name: 't1', rw: 'randread', direct: 1 }], sample_ms: 100 },
} as unknown as Run;

describe('a run', () => {
  it('in one line', () =>
    expect(describeRun(RUN)).toBe('randread · 4k · depth 32 · 1 job · direct=1 · /data/t1 on vda'));
  it('without a name is called by what it does', () =>
    expect(runTitle({ ...RUN, name: '' })).toBe('4k randread, direct'));
  it('as a fio job', () => expect(toJobText(RUN)).toBe('[t1]\nrw=randread\ndirect=1\n'));
  it('as curl, safe for a shell', () => {
    const command = toCurl(RUN, 'http://127.0.0.1:7070');
    expect(command).toContain('curl -sS http://127.0.0.1:7070/api/v1/runs');
    expect(command).toContain("it'\\''s");
    const body = /-d '([\s\S]*)'$/.exec(command.replaceAll("'\\''", '’'))?.[1];
    expect(JSON.parse(body ?? '')).toEqual({
      name: 'it’s',
      tags: ['a'],
      sample_ms: 100,
      jobs: RUN.requested.jobs,
    });
  });
});

it.each([
  ['randread', { reads: true, writes: false, trims: false }],
  ['randrw', { reads: true, writes: true, trims: false }],
  ['write:8k', { reads: false, writes: true, trims: false }],
  ['trim', { reads: false, writes: false, trims: true }],
])('%s goes %j', (rw, directions) =>
  expect(directionsOf({ rw } as RunSummary)).toEqual(directions),
);

it('verdicts are lines with a word, a share and a layer', () => {
  const read = {
    class: 'page_cache',
    sentence: 'From memory.',
    shares: { page_cache: 0.9999 },
    evidence: { issued_ios: 10 },
  };
  const lines = verdictLines({ read, write: null } as unknown as Verdicts);
  expect(lines.map(({ label, layer, sentence }) => [plain(label), layer, sentence])).toEqual([
    ['page cache 99.99 %', 1, 'From memory.'],
  ]);
  expect(verdictLines(null)).toEqual([]);
});

it('facts are written by what their names say about units', () => {
  const facts = fieldRows(
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
  expect(Object.fromEntries(facts.map(([name, words]) => [name, plain(words)]))).toEqual({
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

it('failures are told with every problem and its remedy, or with their detail', () => {
  const problem = {
    code: 'x',
    kind: 'invalid' as const,
    field: null,
    detail: 'No.',
    remedy: 'Do this.',
  };
  expect(errorText(new ApiProblem(422, 'refused', 'Refused', 'long', [problem]))).toEqual({
    title: 'Refused',
    detail: '',
    remedies: ['No. Do this.'],
  });
  expect(errorText(new ApiProblem(429, 'full', 'Full', 'why'))).toEqual({
    title: 'Full',
    detail: 'why',
    remedies: [],
  });
  expect(errorText(new Error('boom')).detail).toContain('boom');
});
