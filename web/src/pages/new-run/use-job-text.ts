// The job text that the form edits. It is stored elsewhere (use-run-draft, use-study). See
// use-job-form for the form's fields.
import { useCallback, useMemo } from 'react';
import type { Plan } from '../../api';
import type { FormProblem } from '../../model/job/form-problems';
import { type JobFile, type JobOptions, jobsOf, parseJobText } from '../../model/job/job-text';
import { useByValue } from './use-by-value';
import type { ChangeText, JobForm } from './use-job-form';
import type { PlanState } from './use-plan';

interface JobText {
  text: string;
  setText: (text: string) => void;
  file: JobFile;
  /** Stays the same object until an option changes. */
  jobs: JobOptions[];
}

/** A job text, with its form, plan and problems. */
export interface JobDraft extends JobText, PlanState<Plan> {
  form: JobForm;
  problems: FormProblem[];
}

export function useJobText(text: string, change: ChangeText): JobText {
  const file = useMemo(() => parseJobText(text), [text]);
  const jobs = useByValue(useMemo(() => jobsOf(file), [file]));
  const setText = useCallback((next: string) => change(() => next), [change]);
  return { text, setText, file, jobs };
}
