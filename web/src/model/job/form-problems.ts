// Maps a plan's problems to jobs, options and lines in the job text.
import type { Problem } from '../../api';
import { lacksDevice } from './io-mode';
import { type JobFile, jobsOf, lineOf } from './job-text';

export interface FormProblem {
  /** Index of the job; null if the problem concerns the whole form. */
  job: number | null;
  /** Null if the problem does not concern a single option. */
  option: string | null;
  /** Zero-based line in the job text; null if the text does not set the option. */
  line: number | null;
  detail: string;
  remedy: string;
  /** True if a required value has not been chosen yet. This is not shown as an error. */
  isPrompt?: boolean;
}

const FIELD = /^(?:jobs\[(\d+)\])?\.?(.*)$/;

export function formProblems(problems: readonly Problem[], file: JobFile): FormProblem[] {
  const jobs = problems.length > 0 ? jobsOf(file) : [];
  return problems.map(({ field, detail, remedy }) => {
    const [, index, name] = FIELD.exec(field ?? '') ?? [];
    const option = name || null;
    const job = index === undefined ? defaultJob(option) : Number(index);
    if (job !== null && option === 'filename' && lacksDevice(jobs[job] ?? {}))
      return { ...CHOOSE_DEVICE, job, option };
    const line = job !== null && option ? lineOf(file, job, option) : null;
    return { job, option, line, detail, remedy };
  });
}

const CHOOSE_DEVICE = { line: null, detail: 'Choose a device.', remedy: '', isPrompt: true };

/**
 * Options without a job index belong to the first job, except `confirm`, which belongs to the form.
 */
const defaultJob = (option: string | null) => (option && option !== 'confirm' ? 0 : null);
