// Options that have their own form fields, and the values that the form offers for them.

export const PATTERNS = [
  { value: 'randread', label: 'Random read' },
  { value: 'randwrite', label: 'Random write' },
  { value: 'randrw', label: 'Random read and write' },
  { value: 'read', label: 'Sequential read' },
  { value: 'write', label: 'Sequential write' },
  { value: 'rw', label: 'Sequential read and write' },
  { value: 'randtrim', label: 'Random trim' },
  { value: 'trim', label: 'Sequential trim' },
  { value: 'randtrimwrite', label: 'Random trim and write' },
  { value: 'trimwrite', label: 'Sequential trim and write' },
] as const;

/** Returns true if a pattern overwrites or discards data on the target. */
export const isDestructive = (rw: string | undefined): boolean => /write|rw|trim/.test(rw ?? '');

/** Options that "All options" omits, because the form has dedicated controls for them. */
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

/** Default value for `file_state` and `cache_state`. */
export const UNCHANGED = 'as-is';

export const FILE_STATES = stateOptions(
  [UNCHANGED, 'Unchanged', 'Uses the existing file and creates missing parts.'],
  ['fresh', 'Fresh', 'New file: the first writes also allocate blocks.'],
  ['written', 'Written', 'Every block contains data, so reads reach the device.'],
  ['overwrite', 'Overwritten', 'Every block exists and is overwritten in place.'],
  ['append', 'Appended', 'Writes extend the file.'],
);

export const CACHE_STATES = stateOptions(
  [UNCHANGED, 'Unchanged', 'Left as is, except that invalidate=1 (the default) evicts this file.'],
  ['cold', 'Cold', 'Nothing is cached: the first accesses reach the device.'],
  ['warm', 'Warm', 'The whole file is cached, as it would be for a long-running program.'],
);
