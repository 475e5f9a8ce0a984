// The job that the form edits. Its text is the one truth; fields read from it and edit it. Whose text it is (a run's or a
// step's), what the server plans with it and what is in its way is told from outside.
import { useCallback, useMemo, useState } from 'react';
import type { Plan } from '../../api';
import type { FormProblem } from '../../model/job/job-form';
import {
  type JobFile,
  type JobOptions,
  jobsOf,
  parseJobText,
  setOption,
} from '../../model/job/job-text';

/** A job text being edited. */
interface JobEdit {
  text: string;
  setText: (text: string) => void;
  file: JobFile;
  jobs: JobOptions[];
  /** Number of the job that the form shows. */
  active: number;
  setActive: (job: number) => void;
  /** The job that the form shows. */
  job: JobOptions;
  /** Sets an option of that job; an empty one keeps its place in the text. */
  set: (option: string, value: string) => void;
  /** Takes an option of that job out. */
  unset: (option: string) => void;
  /** Takes an option out whose value was left empty. */
  unsetIfEmpty: (option: string) => void;
}

/** The same with what the server says about it. */
export interface JobDraft extends JobEdit {
  confirm: string;
  setConfirm: (confirm: string) => void;
  plan: Plan | undefined;
  /** Whether the plan is that of the text as it stands. */
  planned: boolean;
  planError: Error | null;
  obstacles: FormProblem[];
}

/** Edits a text that is kept elsewhere. */
export function useJobText(text: string, change: (edit: (text: string) => string) => void): JobEdit {
  const [active, setActive] = useState(0);
  const file = useMemo(() => parseJobText(text), [text]);
  const jobs = useMemo(() => jobsOf(file), [file]);
  const index = Math.min(active, Math.max(0, jobs.length - 1));
  const setText = useCallback((next: string) => change(() => next), [change]);
  const set = useCallback(
    (option: string, value: string) => change((old) => setOption(old, index, option, value)),
    [change, index],
  );
  const drop = useCallback(
    (option: string) => change((old) => setOption(old, index, option, null)),
    [change, index],
  );
  const settle = useCallback(
    (option: string) =>
      change((old) =>
        jobsOf(parseJobText(old))[index]?.[option] ? old : setOption(old, index, option, null),
      ),
    [change, index],
  );
  return {
    text,
    setText,
    file,
    jobs,
    active: index,
    setActive,
    job: jobs[index] ?? {},
    set,
    unset,
    unsetIfEmpty,
  };
}
