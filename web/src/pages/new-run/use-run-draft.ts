// Draft of a run, stored for the browser session. It can start as a copy of an earlier run.
import { useSessionStorage } from '@mantine/hooks';
import { useMemo } from 'react';
import type { Plan, Run, RunRequest } from '../../api';
import { planQuery } from '../../api/queries';
import { toJobText } from '../../model/job/export';
import { type FormProblem, formProblems } from '../../model/job/form-problems';
import type { JobFile } from '../../model/job/job-text';
import { DEFAULT_JOB_TEXT } from '../../model/job/presets';
import { useByValue } from './use-by-value';
import { type Confirmations, isNotConfirmed, useConfirmations } from './use-confirmations';
import { useJobForm } from './use-job-form';
import { type JobDraft, useJobText } from './use-job-text';
import { usePlan } from './use-plan';

interface StoredDraft {
  /** The copied run's number. */
  from?: number;
  text: string;
  name: string;
  tags: string[];
  /** The copied run's sampling interval; undefined for the server's default. */
  sampleMs?: number;
}

const EMPTY: StoredDraft = { text: DEFAULT_JOB_TEXT, name: '', tags: [] };

export interface RunDraft extends JobDraft, Omit<StoredDraft, 'text'> {
  setName: (name: string) => void;
  setTags: (tags: string[]) => void;
  /** Replaces the job text, and removes the link to the copied run. */
  loadText: (text: string) => void;
  confirmations: Confirmations;
  /** Stays the same object until the fields that are sent change. */
  request: RunRequest;
}

/**
 * Not synchronized: other pages that store a draft are never shown at the same time as the form.
 */
export const useStoredDraft = () =>
  useSessionStorage<StoredDraft>({ key: 'leadline-run', defaultValue: EMPTY, sync: false });

export const copyRun = (run: Run): StoredDraft => ({
  from: run.number,
  text: toJobText(run),
  name: run.name,
  tags: run.tags,
  sampleMs: run.requested.sample_ms,
});

export function useRunDraft(): RunDraft {
  const [{ from, text, name, tags, sampleMs }, store] = useStoredDraft();
  const setters = useMemo(() => createSetters(store), [store]);
  const { changeText } = setters;
  const jobText = useJobText(text, changeText);
  const { file, jobs } = jobText;
  // The name and tags do not affect the plan.
  const planRequest = useMemo((): RunRequest => ({ jobs, sample_ms: sampleMs }), [jobs, sampleMs]);
  const isComplete = file.errors.length === 0 && jobs.length > 0;
  const plan = usePlan(planRequest, planQuery, isComplete);
  const confirmations = useConfirmations(plan.plan?.confirmations);
  const { confirm } = confirmations;
  const found = useMemo(
    () => findProblems(file, jobs.length, plan.plan),
    [file, jobs.length, plan.plan],
  );
  const problems = useByValue([...found, ...confirmations.problems]);
  const form = useJobForm(jobs, problems, changeText);
  const request = useMemo(
    () => ({ ...planRequest, name: name || undefined, tags, confirm }),
    [planRequest, name, tags, confirm],
  );
  return {
    ...jobText,
    ...plan,
    ...setters,
    from,
    name,
    tags,
    sampleMs,
    confirmations,
    problems,
    form,
    request,
  };
}

function createSetters(store: (edit: (old: StoredDraft) => StoredDraft) => void) {
  const change = (part: Partial<StoredDraft>) => store((old) => ({ ...old, ...part }));
  return {
    changeText: (edit: (text: string) => string) =>
      store((old) => ({ ...old, text: edit(old.text) })),
    setName: (name: string) => change({ name }),
    setTags: (tags: string[]) => change({ tags }),
    loadText: (text: string) => change({ from: undefined, text, sampleMs: undefined }),
  };
}

function findProblems(file: JobFile, jobCount: number, plan: Plan | undefined): FormProblem[] {
  const found = (plan?.problems ?? []).filter((problem) => !isNotConfirmed(problem));
  return [...textProblems(file, jobCount), ...formProblems(found, file)];
}

function textProblems(file: JobFile, jobCount: number): FormProblem[] {
  const unlocated = { job: null, option: null, line: null, remedy: '' };
  const problems = file.errors.map((error) => ({ ...unlocated, ...error }));
  if (jobCount > 0) return problems;
  const remedy = 'Add a section header such as [t1], or choose a preset.';
  return [...problems, { ...unlocated, detail: 'The file contains no jobs.', remedy }];
}
