import { describe, expect, it } from 'vitest';
import { jobsOf, lineOf, parseJobText, setOption, writeJobText } from './job-text';

const FILE = `[global]
ioengine=io_uring
direct=1        ; past the cache

[reader]
rw=randread
bs = 4k         # small
time_based

[writer]
rw=randwrite
direct=0
`;
const read = (text: string) => jobsOf(parseJobText(text));

describe('reading', () => {
  it('gives each job what [global] said, and its own word last', () => {
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

  it('lets a second [global] count for later jobs only', () => {
    expect(read('[global]\nbs=4k\n[a]\n[global]\nbs=8k\n[b]')).toEqual([
      { name: 'a', bs: '4k' },
      { name: 'b', bs: '8k' },
    ]);
  });

  it.each([
    ['[a\nrw=read', 0],
    ['[a]\n=4k', 1],
    ['[a]\nrw=read\n4k bs', 2],
  ])('names the line that is wrong in %j', (text, line) => {
    expect(parseJobText(text).errors.map((fault) => fault.line)).toEqual([line]);
  });

  it('cuts a line at a comment sign anywhere, as fio does', () => {
    expect(read('[a]\nfilename=/data/a#b')[0]?.filename).toBe('/data/a');
  });
});

describe('editing', () => {
  it('replaces in place and keeps the comment', () => {
    expect(setOption(FILE, 0, 'bs', '64k')).toContain('bs=64k         # small\n');
  });
  it('edits the line in [global] when the option stands there and the job is alone', () => {
    const alone = setOption('[global]\nbs=4k   # shared by one\n[a]\nrw=read', 0, 'bs', '8k');
    expect(alone).toBe('[global]\nbs=8k   # shared by one\n[a]\nrw=read');
  });
  it.each(['psync', '', null])(
    'leaves other jobs as they are when what they share is set to %j for one',
    (value) => {
      const text = setOption(FILE, 0, 'ioengine', value);
      expect(read(text)[0]?.ioengine).toBe(value || undefined);
      expect(read(text)[1]).toEqual(read(FILE)[1]);
      expect(read(setOption(text, 0, 'ioengine', 'null'))[0]?.ioengine).toBe('null');
    },
  );
  it('adds at the end of the job', () => {
    const text = setOption(FILE, 0, 'iodepth', '32');
    expect(text).toContain('time_based\niodepth=32\n');
    expect(lineOf(text, 0, 'iodepth')).toBe(8);
  });
  it('keeps the place of an option whose value is being typed', () => {
    const emptied = setOption(FILE, 0, 'bs', '');
    expect(emptied).toContain('rw=randread\nbs=         # small');
    expect(read(emptied)[0]).not.toHaveProperty('bs');
    expect(setOption(emptied, 0, 'bs', '8k')).toContain('rw=randread\nbs=8k         # small');
  });
  it('takes out', () =>
    expect(read(setOption(FILE, 0, 'time_based', null))[0]).not.toHaveProperty('time_based'));
  it('renames the job', () => expect(read(setOption(FILE, 1, 'name', 'w2'))[1]?.name).toBe('w2'));
  it('changes nothing when the job is not there', () =>
    expect(setOption('', 0, 'bs', '4k')).toBe(''));
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
  ])('is read back as it was: %j', (jobs) => {
    const expected = jobs.map((job) =>
      Object.fromEntries(Object.entries(job).map(([k, v]) => [k, v === true ? '1' : String(v)])),
    );
    expect(read(writeJobText(jobs))).toEqual(expected);
  });
});
