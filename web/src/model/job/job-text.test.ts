import { describe, expect, it } from 'vitest';
import { jobsOf, lineOf, parseJobText, setOption, writeJobText } from './job-text';

const FILE = `[global]
ioengine=io_uring
direct=1        ; bypass the cache

[reader]
rw=randread
bs = 4k         # small
time_based

[writer]
rw=randwrite
direct=0
`;
const read = (text: string) => jobsOf(parseJobText(text));

describe('parsing', () => {
  it('merges [global] into jobs, which override it', () => {
    expect(read(FILE)).toEqual([
      {
        name: 'reader',
        ioengine: 'io_uring',
        direct: '1',
        rw: 'randread',
        bs: '4k',
        time_based: '1',
      },
      { name: 'writer', ioengine: 'io_uring', direct: '0', rw: 'randwrite' },
    ]);
  });

  it('applies a second [global] only to later jobs', () => {
    expect(read('[global]\nbs=4k\n[a]\n[global]\nbs=8k\n[b]')).toEqual([
      { name: 'a', bs: '4k' },
      { name: 'b', bs: '8k' },
    ]);
  });

  it.each([
    ['[a\nrw=read', 0],
    ['[a]\n=4k', 1],
    ['[a]\nrw=read\n4k bs', 2],
  ])('reports the invalid line of %j', (text, line) => {
    expect(parseJobText(text).errors.map((error) => error.line)).toEqual([line]);
  });

  it('strips comments anywhere in a line, as fio does', () => {
    expect(read('[a]\nfilename=/data/a#b')[0]?.filename).toBe('/data/a');
  });
});

describe('editing', () => {
  it('replaces in place and keeps the comment', () => {
    expect(setOption(FILE, 0, 'bs', '64k')).toContain('bs=64k         # small\n');
  });
  it('edits [global] if it has the option and there is one job', () => {
    const single = setOption('[global]\nbs=4k   # shared by one\n[a]\nrw=read', 0, 'bs', '8k');
    expect(single).toBe('[global]\nbs=8k   # shared by one\n[a]\nrw=read');
  });
  it.each(['psync', '', null])('keeps other jobs when setting a shared option to %j', (value) => {
    const text = setOption(FILE, 0, 'ioengine', value);
    expect(read(text)[0]?.ioengine).toBe(value || undefined);
    expect(read(text)[1]).toEqual(read(FILE)[1]);
    expect(read(setOption(text, 0, 'ioengine', 'null'))[0]?.ioengine).toBe('null');
  });
  it('appends to the job', () => {
    const text = setOption(FILE, 0, 'iodepth', '32');
    expect(text).toContain('time_based\niodepth=32\n');
    expect(lineOf(parseJobText(text), 0, 'iodepth')).toBe(8);
  });
  it('keeps the line of an option with an empty value', () => {
    const emptied = setOption(FILE, 0, 'bs', '');
    expect(emptied).toContain('rw=randread\nbs=         # small');
    expect(read(emptied)[0]).not.toHaveProperty('bs');
    expect(setOption(emptied, 0, 'bs', '8k')).toContain('rw=randread\nbs=8k         # small');
  });
  it('removes an option', () =>
    expect(read(setOption(FILE, 0, 'time_based', null))[0]).not.toHaveProperty('time_based'));
  it('renames the job', () => expect(read(setOption(FILE, 1, 'name', 'w2'))[1]?.name).toBe('w2'));
  it('ignores a missing job', () => expect(setOption('', 0, 'bs', '4k')).toBe(''));
});

describe('writing', () => {
  it.each([
    [[{ name: 'a', rw: 'read', direct: true, iodepth: 8 }]],
    [
      [
        { name: 'a', rw: 'read', bs: '4k' },
        { name: 'b', rw: 'write', bs: '4k' },
      ],
    ],
  ])('parses back to the same jobs: %j', (jobs) => {
    const expected = jobs.map((job) =>
      Object.fromEntries(Object.entries(job).map(([k, v]) => [k, v === true ? '1' : String(v)])),
    );
    expect(read(writeJobText(jobs))).toEqual(expected);
  });
});
