// A job's I/O path: buffered file, direct file or raw device.
import { type JobOptions, setOption } from './job-text';

export type IoMode = 'buffered' | 'direct' | 'raw';

export const IO_MODES: readonly { mode: IoMode; title: string; description: string }[] = [
  {
    mode: 'buffered',
    title: 'Buffered file',
    description: 'Uses the page cache, like most programs.',
  },
  {
    mode: 'direct',
    title: 'Direct file',
    description: 'Bypasses the page cache: measures the disk and the filesystem.',
  },
  {
    mode: 'raw',
    title: 'Raw device',
    description: 'Bypasses the filesystem, for comparison with data sheets. Writes destroy data.',
  },
];

const DEV = '/dev/';
const DEFAULT_FILE = 't1';

const isDevice = ({ filename }: JobOptions) => filename?.startsWith(DEV) ?? false;

/** A raw device that has not been chosen yet. */
export const lacksDevice = ({ filename }: JobOptions): boolean => filename === DEV;

/** Null if the job sets neither a device nor `direct`. */
export function ioModeOf(job: JobOptions): IoMode | null {
  if (isDevice(job)) return 'raw';
  if (job.direct === undefined) return null;
  return job.direct === '1' || job.direct === 'true' ? 'direct' : 'buffered';
}

/**
 * Returns the text after changing a job's I/O mode. Changing from or to a raw device resets
 * the file name.
 */
export function setIoMode(text: string, index: number, job: JobOptions, mode: IoMode): string {
  const next = setOption(text, index, 'direct', mode === 'buffered' ? '0' : '1');
  const isRaw = mode === 'raw';
  if (isRaw === isDevice(job)) return next;
  return setOption(next, index, 'filename', isRaw ? DEV : DEFAULT_FILE);
}

/** Returns the text with a job that accesses a file through a new loop device. */
export function withLoopDevice(text: string, index: number): string {
  const options = { filename: DEFAULT_FILE, direct: '1', loop_device: '1' };
  return Object.entries(options).reduce(
    (next, [option, value]) => setOption(next, index, option, value),
    text,
  );
}
