// Options with their own form fields, and the values offered for them.

export const PATTERNS = [
  { value: 'randread', label: 'random read' },
  { value: 'randwrite', label: 'random write' },
  { value: 'randrw', label: 'random read and write' },
  { value: 'read', label: 'sequential read' },
  { value: 'write', label: 'sequential write' },
  { value: 'rw', label: 'sequential read and write' },
  { value: 'randtrim', label: 'random trim' },
  { value: 'trim', label: 'sequential trim' },
] as const;

/** Returns true if a pattern overwrites or discards data of the target. */
export const isDestructive = (rw: string | undefined): boolean => /write|rw|trim/.test(rw ?? '');

/** Options above "All options". */
export const BASIC_OPTIONS = [
  'filename',
  'rw',
  'bs',
  'iodepth',
  'numjobs',
  'size',
  'runtime',
  'ramp_time',
  'direct',
  'name',
  'file_state',
  'cache_state',
] as const;

/** A value of `file_state` or `cache_state`. */
export interface StateOption {
  value: string;
  label: string;
  description: string;
}

const stateOptions = (
  ...rows: [value: string, label: string, description: string][]
): readonly StateOption[] =>
  rows.map(([value, label, description]) => ({ value, label, description }));

/** The default of `file_state` and `cache_state`. */
export const UNCHANGED = 'as-is';

export const FILE_STATES = stateOptions(
  [UNCHANGED, 'unchanged', 'Existing file; missing parts are created.'],
  ['fresh', 'fresh', 'New file: first writes also allocate blocks.'],
  ['written', 'written', 'Every block contains data, so that reads reach the device.'],
  ['overwrite', 'overwritten', 'Every block exists and is overwritten in place.'],
  ['append', 'appended', 'Writes extend the file at its end.'],
);

export const CACHE_STATES = stateOptions(
  [UNCHANGED, 'unchanged', 'Unchanged, but invalidate=1 (default) evicts this file.'],
  ['cold', 'cold', 'Nothing in memory: first accesses reach the device.'],
  ['warm', 'warm', 'The whole file is in memory, as for a program that has been running.'],
);

/** Accepted values by option kind. */
export const OPTION_VALUES: Readonly<Record<string, readonly string[]>> = {
  flag: ['1', '0'],
  engine: ['io_uring', 'psync', 'null'],
  fallback: ['none', 'psync'],
  'sync mode': ['none', 'sync', 'dsync'],
  allocation: ['written', 'none', 'native', 'posix', 'keep', 'truncate'],
  advice: ['1', '0', 'random', 'sequential'],
};
