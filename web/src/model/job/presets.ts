// Jobs worth starting from, each with the reason for it. Plain job text: a preset is what somebody could have typed.

/** One preset. */
export interface Preset {
  name: string;
  /** What it shows. */
  reason: string;
  text: string;
}

const job = (name: string, ...options: string[]) => `[${name}]\n${options.join('\n')}\n`;
const TIMED = ['size=1g', 'runtime=30s', 'time_based'];

/** The presets in the order of the menu; the first is what the form begins with. */
export const PRESETS: readonly Preset[] = [
  {
    name: '4k random read, direct',
    reason: 'What a data sheet calls random read: many small reads at once, past the page cache.',
    text: job('t1', 'filename=t1', 'rw=randread', 'bs=4k', 'iodepth=32', 'direct=1', ...TIMED),
  },
  {
    name: 'One read at a time',
    reason: 'The latency that a database feels when a page is not in its cache: depth 1, direct.',
    text: job('latency', 'filename=t1', 'rw=randread', 'bs=4k', 'iodepth=1', 'direct=1', ...TIMED),
  },
  {
    name: '1m sequential read, direct',
    reason: 'The bandwidth of the device in its easiest case.',
    text: job('stream', 'filename=t1', 'rw=read', 'bs=1m', 'iodepth=8', 'direct=1', ...TIMED),
  },
  {
    name: '4k random read, buffered and warm',
    reason:
      'What memory answers: the same reads again after the file was read into the page cache.',
    text: job(
      'warm',
      'filename=t1',
      'rw=randread',
      'bs=4k',
      'iodepth=32',
      'direct=0',
      'invalidate=0',
      'pre_read=1',
      ...TIMED,
    ),
  },
  {
    name: '4k sequential read, buffered',
    reason:
      'Readahead at work: few large reads reach the device while the job asks for many small ones.',
    text: job('readahead', 'filename=t1', 'rw=read', 'bs=4k', 'iodepth=1', 'direct=0', 'size=1g'),
  },
  {
    name: '8k random write, buffered, then flushed',
    reason: 'How fast memory takes writes, and how long the device then needs for them.',
    text: job(
      'deferred',
      'filename=t1',
      'rw=randwrite',
      'bs=8k',
      'iodepth=1',
      'direct=0',
      'end_fsync=1',
      'size=1g',
    ),
  },
  {
    name: 'Database mix, 70 % reads',
    reason: 'Reads and writes at once, 8k each, as a busy database does.',
    text: job(
      'mix',
      'filename=t1',
      'rw=randrw',
      'rwmixread=70',
      'bs=8k',
      'iodepth=16',
      'direct=1',
      ...TIMED,
    ),
  },
  {
    name: 'Write-ahead log',
    reason: 'Commits a second: every 4k write waits for fdatasync.',
    text: job(
      'wal',
      'filename=wal',
      'rw=write',
      'bs=4k',
      'iodepth=1',
      'direct=0',
      'fdatasync=1',
      'size=256m',
      'runtime=30s',
      'time_based',
    ),
  },
  {
    name: 'The runner by itself',
    reason: 'No I/O at all: the most IOPS that the runner and this processor could do.',
    text: job(
      'null',
      'ioengine=null',
      'rw=randread',
      'bs=4k',
      'iodepth=32',
      'direct=1',
      'size=1g',
      'runtime=5s',
      'time_based',
    ),
  },
];

/** What the form begins with. */
export const FIRST_TEXT = PRESETS[0]?.text ?? '';
