// Job templates for the form, as job text.

export interface Preset {
  name: string;
  description: string;
  text: string;
}

/** `options`: separated by spaces. */
const job = (name: string, options: string) => `[${name}]\n${options.replaceAll(' ', '\n')}\n`;
const TIMED = 'size=1g runtime=30s time_based';

/** In menu order; the first is the form's default. */
export const PRESETS: readonly Preset[] = [
  {
    name: '4k random read, direct',
    description:
      'Random reads as in data sheets: many small reads in flight, bypassing the page cache.',
    text: job('t1', `filename=t1 rw=randread bs=4k iodepth=32 direct=1 ${TIMED}`),
  },
  {
    name: 'One read at a time',
    description: 'Latency of a database cache miss: queue depth 1, direct.',
    text: job('latency', `filename=t1 rw=randread bs=4k iodepth=1 direct=1 ${TIMED}`),
  },
  {
    name: '1m sequential read, direct',
    description: 'Best-case bandwidth of the device.',
    text: job('stream', `filename=t1 rw=read bs=1m iodepth=8 direct=1 ${TIMED}`),
  },
  {
    name: '4k random read, buffered and warm',
    description: 'Reads served from memory, after the file is read into the page cache.',
    text: job(
      'warm',
      `filename=t1 rw=randread bs=4k iodepth=32 direct=0 invalidate=0 pre_read=1 ${TIMED}`,
    ),
  },
  {
    name: '4k sequential read, buffered',
    description: 'Readahead: many small reads become a few large ones on the device.',
    text: job('readahead', 'filename=t1 rw=read bs=4k iodepth=1 direct=0 size=1g'),
  },
  {
    name: '8k random write, buffered, with flush',
    description: 'Write rate into memory, and time to flush to the device.',
    text: job('deferred', 'filename=t1 rw=randwrite bs=8k iodepth=1 direct=0 end_fsync=1 size=1g'),
  },
  {
    name: 'Database mix, 70 % reads',
    description: 'Mixed 8k reads and writes, as in a busy database.',
    text: job('mix', `filename=t1 rw=randrw rwmixread=70 bs=8k iodepth=16 direct=1 ${TIMED}`),
  },
  {
    name: 'Write-ahead log',
    description: 'Commits per second: fdatasync after every 4k write.',
    text: job(
      'wal',
      'filename=wal rw=write bs=4k iodepth=1 direct=0 fdatasync=1 size=256m runtime=30s time_based',
    ),
  },
  {
    name: 'Runner overhead',
    description: 'No I/O: the runner’s maximum IOPS on this CPU.',
    text: job(
      'null',
      'ioengine=null rw=randread bs=4k iodepth=32 direct=1 size=1g runtime=5s time_based',
    ),
  },
];

export const DEFAULT_JOB_TEXT = PRESETS[0]?.text ?? '';
