// The job that the form edits. Its text is stored elsewhere (use-run-draft, use-study); the fields
// are parsed from it, and changes to them edit it in place.
import { useMemo, useState } from 'react';
import type { Plan } from '../../api';
import type { FormProblem } from '../../model/job/form-problems';
import {
  type JobFile,
  type JobOptions,
  jobsOf,
  parseJobText,
  setOption,
} from '../../model/job/job-text';
import type { PlanState } from './use-plan';

interface JobText {
  text: string;
  setText: (text: string) => void;
  file: JobFile;
  jobs: JobOptions[];
  /** Index of the job in the form. */
  active: number;
  setActive: (job: number) => void;
  /** The job in the form. */
  job: JobOptions;
  /** Sets an option. An empty value does not remove its line from the text. */
  set: (option: string, value: string) => void;
  unset: (option: string) => void;
  unsetIfEmpty: (option: string) => void;
}

/** A job text with its plan and its problems. */
export interface JobDraft extends JobText, PlanState<Plan> {
  problems: FormProblem[];
}

/** Edits text that is stored elsewhere. */
export function useJobText(
  text: string,
  change: (edit: (text: string) => string) => void,
): JobText {
  const [selected, setActive] = useState(0);
  const file = useMemo(() => parseJobText(text), [text]);
  const jobs = useMemo(() => jobsOf(file), [file]);
  const active = Math.min(selected, Math.max(0, jobs.length - 1));
  const set = (option: string, value: string | null) =>
    change((old) => setOption(old, active, option, value));
  return {
    text,
    setText: (next) => change(() => next),
    file,
    jobs,
    active,
    setActive,
    job: jobs[active] ?? {},
    set,
    unset: (option) => set(option, null),
    unsetIfEmpty: (option) =>
      change((old) =>
        jobsOf(parseJobText(old))[active]?.[option] ? old : setOption(old, active, option, null),
      ),
  };
}
