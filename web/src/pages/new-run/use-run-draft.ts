// Draft of a run, stored in the browser session. It may start as a copy of an earlier run.
import { useSessionStorage } from '@mantine/hooks';
import { useCallback, useMemo } from 'react';
import type { Run, RunRequest } from '../../api';
import { planQuery } from '../../api/queries';
import { toJobText } from '../../model/job/export';
import { type FormProblem, formProblems } from '../../model/job/form-problems';
import type { JobFile } from '../../model/job/job-text';
import { DEFAULT_JOB_TEXT } from '../../model/job/presets';
import { type Confirmations, isNotConfirmed, useConfirmations } from './use-confirmations';
import { type JobDraft, useJobText } from './use-job-text';
import { usePlan } from './use-plan';

interface StoredDraft {
  /** Number of the copied run. */
  from?: number;
  text: string;
  name: string;
  tags: string[];
  /** Sampling interval of the copied run; undefined for the server's default. */
  sampleMs?: number;
}

const EMPTY: StoredDraft = { text: DEFAULT_JOB_TEXT, name: '', tags: [] };

export interface RunDraft extends JobDraft, Omit<StoredDraft, 'text'> {
  setName: (name: string) => void;
  setTags: (tags: string[]) => void;
  /** Replaces the job text and removes the reference to the copied run. */
  loadText: (text: string) => void;
  confirmations: Confirmations;
  request: RunRequest;
}

export const useStoredDraft = () =>
  useSessionStorage<StoredDraft>({ key: 'leadline-run', defaultValue: EMPTY });

export const copyRun = (run: Run): StoredDraft => ({
  from: run.number,
  text: toJobText(run),
  name: run.name,
  tags: run.tags,
  sampleMs: run.requested.sample_ms,
});

export function useRunDraft(): RunDraft {
  const [{ from, text, name, tags, sampleMs }, store] = useStoredDraft();
  const change = (part: Partial<StoredDraft>) => store((old) => ({ ...old, ...part }));
  const changeText = useCallback(
    (edit: (text: string) => string) => store((old) => ({ ...old, text: edit(old.text) })),
    [store],
  );
  const jobText = useJobText(text, changeText);
  const { file, jobs } = jobText;
  // Name and tags do not change the plan.
  const planRequest = useMemo((): RunRequest => ({ jobs, sample_ms: sampleMs }), [jobs, sampleMs]);
  const isComplete = file.errors.length === 0 && jobs.length > 0;
  const plan = usePlan(planRequest, planQuery, isComplete);
  const confirmations = useConfirmations(plan.plan?.confirmations);
  const serverProblems = plan.plan?.problems;
  const problems = useMemo(() => {
    const found = (serverProblems ?? []).filter((problem) => !isNotConfirmed(problem));
    return [...textProblems(file, jobs.length), ...formProblems(found, text)];
  }, [file, jobs.length, serverProblems, text]);
  return {
    ...jobText,
    ...plan,
    from,
    name,
    tags,
    sampleMs,
    setName: (next) => change({ name: next }),
    setTags: (next) => change({ tags: next }),
    loadText: (next) => change({ from: undefined, text: next, sampleMs: undefined }),
    confirmations,
    request: { ...planRequest, name: name || undefined, tags, confirm: confirmations.confirm },
    problems: [...problems, ...confirmations.problems],
  };
}

function textProblems(file: JobFile, jobCount: number): FormProblem[] {
  const unlocated = { job: null, option: null, line: null, remedy: '' };
  const problems = file.errors.map((error) => ({ ...unlocated, ...error }));
  if (jobCount > 0) return problems;
  const remedy = 'Add a heading such as [t1], or choose a preset.';
  return [...problems, { ...unlocated, detail: 'The file contains no jobs.', remedy }];
}
