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

/** The default of `file_state` and `cache_state`. */
export const UNCHANGED = 'as-is';

export const FILE_STATES: readonly StateOption[] = [
  {
    value: UNCHANGED,
    label: 'unchanged',
    description: 'Existing file; missing parts are created.',
  },
  {
    value: 'fresh',
    label: 'fresh',
    description: 'New file: first writes also allocate blocks.',
  },
  {
    value: 'written',
    label: 'written',
    description: 'Every block contains data, so that reads reach the device.',
  },
  {
    value: 'overwrite',
    label: 'overwritten',
    description: 'Every block exists and is overwritten in place.',
  },
  {
    value: 'append',
    label: 'appended',
    description: 'Writes extend the file at its end.',
  },
];

export const CACHE_STATES: readonly StateOption[] = [
  {
    value: UNCHANGED,
    label: 'unchanged',
    description: 'Unchanged, but invalidate=1 (default) evicts this file.',
  },
  {
    value: 'cold',
    label: 'cold',
    description: 'Nothing in memory: first accesses reach the device.',
  },
  {
    value: 'warm',
    label: 'warm',
    description: 'The whole file in memory, as under a running program.',
  },
];

/** Accepted values by option kind. */
export const OPTION_VALUES: Readonly<Record<string, readonly string[]>> = {
  flag: ['1', '0'],
  engine: ['io_uring', 'psync', 'null'],
  fallback: ['none', 'psync'],
  'sync mode': ['none', 'sync', 'dsync'],
  allocation: ['written', 'none', 'native', 'posix', 'keep', 'truncate'],
  advice: ['1', '0', 'random', 'sequential'],
};
