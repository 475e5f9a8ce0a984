// One job in the text as form fields. The fields edit the text in place.
import { useMemo, useState } from 'react';
import type { FormProblem } from '../../model/job/form-problems';
import { type JobOptions, jobsOf, parseJobText, setOption } from '../../model/job/job-text';
import { useByValue } from './use-by-value';

/** Edits the text, which is stored elsewhere. */
export type ChangeText = (edit: (text: string) => string) => void;

/** Edits the job that the form shows. The object stays the same until another job is selected. */
export interface JobEdits {
  /** Edits the text; `active` is the job's index. */
  edit: (change: (text: string, active: number) => string) => void;
  /** Sets an option. An empty value keeps the option's line in the text. */
  set: (option: string, value: string) => void;
  unset: (option: string) => void;
  unsetIfEmpty: (option: string) => void;
}

/**
 * Stays the same object until a field changes, so that typing elsewhere in the text does not
 * rerender the form.
 */
export interface JobForm {
  /** Names of all jobs. */
  names: readonly string[];
  /** Index of the job that the form shows. */
  active: number;
  setActive: (job: number) => void;
  /** The job that the form shows. */
  job: JobOptions;
  /** The job's problems, by option. */
  errors: Readonly<Record<string, string>>;
  edits: JobEdits;
}

export function useJobForm(
  jobs: readonly JobOptions[],
  problems: readonly FormProblem[],
  change: ChangeText,
): JobForm {
  const [selected, setActive] = useState(0);
  const active = Math.min(selected, Math.max(0, jobs.length - 1));
  const names = useByValue(jobs.map(({ name = '' }) => name));
  const job = useByValue(jobs[active] ?? {});
  const errors = useByValue(errorsByOption(problems, active));
  const edits = useMemo(() => createEdits(change, active), [change, active]);
  return useMemo(
    () => ({ names, active, setActive, job, errors, edits }),
    [names, active, job, errors, edits],
  );
}

function errorsByOption(problems: readonly FormProblem[], active: number) {
  const errors = new Map<string, string>();
  for (const { job, option, isPrompt, detail, remedy } of problems) {
    if (job !== active || option === null || isPrompt) continue;
    const before = errors.get(option);
    errors.set(option, `${before ? `${before} ` : ''}${detail} ${remedy}`);
  }
  return Object.fromEntries(errors);
}

function createEdits(change: ChangeText, active: number): JobEdits {
  const set = (option: string, value: string | null) =>
    change((text) => setOption(text, active, option, value));
  const isSet = (text: string, option: string) =>
    Boolean(jobsOf(parseJobText(text))[active]?.[option]);
  return {
    edit: (edit) => change((text) => edit(text, active)),
    set,
    unset: (option) => set(option, null),
    unsetIfEmpty: (option) =>
      change((text) => (isSet(text, option) ? text : setOption(text, active, option, null))),
  };
}
