// The form's view of the job text: which way to the disk a job takes, what choosing another way changes, which options
// have fields of their own, and where a problem belongs. Not here: what options mean.
import type { Plan, Problem, RunSummary } from '../../api';
import { isActive } from '../run/summary';
import { type JobOptions, lineOf, setOption } from './job-text';

/** The three ways to the disk. */
export type IoMode = 'buffered' | 'direct' | 'raw';

/** What is said about each way. */
export const IO_MODES: readonly { way: IoMode; title: string; description: string }[] = [
  {
    way: 'buffered',
    title: 'Buffered file',
    description: 'Through the page cache: what an ordinary program feels.',
  },
  {
    way: 'direct',
    title: 'Direct file',
    description: 'Past the page cache: what the disk and the filesystem can do.',
  },
  {
    way: 'raw',
    title: 'Raw device',
    description:
      'No filesystem at all: what the data sheet claims. Reading is safe; writing destroys.',
  },
];

const DEV = '/dev/';
const isOn = (value: string | undefined) => value === '1' || value === 'true';

/** The way a job takes; null while neither buffered nor direct is said. */
export function ioModeOf(job: JobOptions): IoMode | null {
  if (job.filename?.startsWith(DEV)) return 'raw';
  if (job.direct === undefined) return null;
  return isOn(job.direct) ? 'direct' : 'buffered';
}

/** The text with a job on another way; a file name that was a device (or the other way round) begins anew. */
export function setIoMode(text: string, index: number, job: JobOptions, way: IoMode): string {
  const direct = setOption(text, index, 'direct', way === 'buffered' ? '0' : '1');
  const isDevice = job.filename?.startsWith(DEV) ?? false;
  if (way === 'raw' && !isDevice) return setOption(direct, index, 'filename', DEV);
  return way !== 'raw' && isDevice ? setOption(direct, index, 'filename', 't1') : direct;
}

/** The patterns, in plain words and in fio's. */
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

/** Whether a pattern destroys what was on the target. */
export const isDestructive = (rw: string | undefined): boolean => /write|rw|trim/.test(rw ?? '');

/** Options with fields of their own, before "More". */
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

/** A state to begin with: fio's neighbour of a word, what it is called, and what it means. */
export interface StateChoice {
  value: string;
  label: string;
  description: string;
}

/** What an option says while nothing is said. */
export const UNCHANGED = 'as-is';

/** The states of the file to begin with. */
export const FILE_STATES: readonly StateChoice[] = [
  {
    value: UNCHANGED,
    label: 'as it is',
    description: 'The file as it is found; what is missing is laid out.',
  },
  {
    value: 'fresh',
    label: 'fresh',
    description: 'Not there before: first writes find their blocks on the way.',
  },
  {
    value: 'written',
    label: 'written',
    description: 'Every block holds data, so that reads have something to read.',
  },
  {
    value: 'overwrite',
    label: 'overwritten',
    description: 'Every block was written, and is written again in place.',
  },
  {
    value: 'append',
    label: 'appended',
    description: 'The job goes on where the file ends, and makes it longer.',
  },
];

/** The states of the page cache to begin with. */
export const CACHE_STATES: readonly StateChoice[] = [
  {
    value: UNCHANGED,
    label: 'as it is',
    description: 'What lies in the page cache stays, unless invalidate says otherwise.',
  },
  {
    value: 'cold',
    label: 'cold',
    description: 'None of the file in memory: the first touch of a block asks the device.',
  },
  {
    value: 'warm',
    label: 'warm',
    description: 'All of the file in memory: what a busy program finds there.',
  },
];

/** The words that values of some kinds can take. */
export const OPTION_VALUES: Readonly<Record<string, readonly string[]>> = {
  flag: ['1', '0'],
  engine: ['io_uring', 'psync', 'null'],
  fallback: ['none', 'psync'],
  'sync mode': ['none', 'sync', 'dsync'],
  allocation: ['written', 'none', 'native', 'posix', 'keep', 'truncate'],
  advice: ['1', '0', 'random', 'sequential'],
};

/** What is in the way, and where it stands. */
export interface FormProblem {
  /** Number of the job; null when it is about no job. */
  job: number | null;
  /** The option; null when it is about no single one. */
  option: string | null;
  /** Line in the text, from 0; null when it stands nowhere. */
  line: number | null;
  detail: string;
  remedy: string;
}

/** Where each problem belongs in a text. */
export function formProblems(problems: readonly Problem[], text: string): FormProblem[] {
  return problems.map(({ field, detail, remedy }) => {
    const [, index, option] = /^(?:jobs\[(\d+)\])?\.?(.*)$/.exec(field ?? '') ?? [];
    // What confirms a write is typed beside the text, and stands in no job.
    const job = index === undefined ? (option && option !== 'confirm' ? 0 : null) : Number(index);
    return {
      job,
      option: option || null,
      line: job !== null && option ? lineOf(text, job, option) : null,
      detail,
      remedy,
    };
  });
}

/** The run that a new one would wait for: the last active one on a device of the plan. */
export function blockingRun(plan: Plan, runs: readonly RunSummary[]): RunSummary | null {
  const devices = new Set(
    plan.jobs.flatMap((job) => job.targets.map((target) => target.device)).filter(Boolean),
  );
  return (
    runs
      .filter((run) => isActive(run) && run.device && devices.has(run.device))
      .sort((a, b) => b.number - a.number)[0] ?? null
  );
}
