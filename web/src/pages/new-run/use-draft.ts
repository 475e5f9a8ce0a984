// The run that is being built. It survives a reload in the browser's session, and may begin as a copy of an earlier run.
import { useSessionStorage } from '@mantine/hooks';
import { useCallback, useMemo, useState } from 'react';
import type { Plan, Run, RunRequest } from '../../api';
import { planQuery } from '../../api/queries';
import { toJobText } from '../../model/job/export';
import { type FormProblem, formProblems } from '../../model/job/job-form';
import type { JobFile } from '../../model/job/job-text';
import { FIRST_TEXT } from '../../model/job/presets';
import { type JobDraft, useJobText } from './use-job';
import { usePlan } from './use-plan';

/** What is kept of a run in the making. */
interface StoredRun {
  /** Number of the run that it began as a copy of. */
  from?: number;
  text: string;
  name: string;
  tags: string[];
  /** How far samples are apart, in ms, where the run that it began as a copy of was told; otherwise as the server has it. */
  sampleMs?: number;
}

const FIRST: StoredRun = { text: FIRST_TEXT, name: '', tags: [] };

/** A run in the making. */
export interface RunDraft extends JobDraft, Omit<StoredRun, 'text'> {
  setName: (name: string) => void;
  setTags: (tags: string[]) => void;
  /** Takes another text in the place of all that stands there. */
  loadText: (text: string) => void;
  request: RunRequest;
}

/** The run in the making as it is kept in the browser's session. */
export const useStoredRun = () =>
  useSessionStorage<StoredRun>({ key: 'leadline-run', defaultValue: FIRST });

/** A run in the making that begins as a copy of another. */
export const copyRun = (run: Run): StoredRun => ({
  from: run.number,
  text: toJobText(run),
  name: run.name,
  tags: run.tags,
  sampleMs: run.requested.sample_ms,
});

/** The draft. */
export function useRunDraft(): RunDraft {
  const [{ from, text, name, tags, sampleMs }, keep] = useStoredRun();
  const [confirm, setConfirm] = useState('');
  const change = useCallback(
    (part: Partial<StoredRun>) => keep((old) => ({ ...old, ...part })),
    [keep],
  );
  const changeText = useCallback(
    (edit: (text: string) => string) => keep((old) => ({ ...old, text: edit(old.text) })),
    [keep],
  );
  const setName = (next: string) => change({ name: next });
  const setTags = (next: string[]) => change({ tags: next });
  const beginWith = (next: string) => change({ from: undefined, text: next, sampleMs: undefined });

  const edit = useJobText(text, changeText);
  const { file, jobs } = edit;
  const request = useMemo(
    // Given even when empty: then the server says so where a device would be overwritten.
    (): RunRequest => ({ jobs, name: name || undefined, tags, sample_ms: sampleMs, confirm }),
    [jobs, name, tags, sampleMs, confirm],
  );
  // Name and tags change nothing about the plan.
  const wanted = useMemo(
    (): RunRequest => ({ jobs, sample_ms: sampleMs, confirm: request.confirm }),
    [jobs, sampleMs, request.confirm],
  );
  const {
    plan,
    planned,
    error: planError,
  } = usePlan(wanted, planQuery, file.errors.length === 0 && jobs.length > 0);
  const obstacles = useMemo(
    () => obstaclesInAll(file, plan, text, jobs.length),
    [file, plan, text, jobs.length],
  );
  const named = { from, name, setName, tags, setTags, sampleMs, beginWith };
  return { ...edit, ...named, confirm, setConfirm, request, plan, planned, planError, obstacles };
}

function obstaclesInAll(
  file: JobFile,
  plan: Plan | undefined,
  text: string,
  jobs: number,
): FormProblem[] {
  const plain = (line: number | null, detail: string, remedy: string): FormProblem => ({
    job: null,
    option: null,
    line,
    detail,
    remedy,
  });
  const faults = file.errors.map(({ line, detail }) => plain(line, detail, ''));
  const none =
    jobs === 0
      ? [plain(null, 'There is no job yet.', 'Write a heading such as [t1], or take a preset.')]
      : [];
  return [...faults, ...none, ...formProblems(plan?.problems ?? [], text)];
}
