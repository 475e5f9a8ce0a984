// The run that is being built. It survives a reload in the browser's session, and may begin as a copy of an earlier run.
import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { Plan, RunRequest } from '../../api';
import { planQuery, runQuery } from '../../api/queries';
import { asJobText } from '../../model/copy-as';
import { type Obstacle, obstaclesOf } from '../../model/job-form';
import type { JobFile } from '../../model/job-text';
import { FIRST_TEXT } from '../../model/presets';
import { type Draft, useJob } from './use-job';
import { usePlan } from './use-plan';

/** A run in the making. */
export interface RunDraft extends Draft {
  name: string;
  setName: (name: string) => void;
  tags: string[];
  setTags: (tags: string[]) => void;
  request: RunRequest;
}

/** The draft; `from` is the number of a run to begin with. */
export function useDraft(from: number | undefined): RunDraft {
  const [text, setText] = useSessionStorage({ key: 'leadline-draft', defaultValue: FIRST_TEXT });
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const [confirm, setConfirm] = useState('');
  useCopyOf(from, setText, setName, setTags);

  const edit = useJob(text, setText);
  const { file, jobs } = edit;
  const request = useMemo(
    // Given even when empty: then the server says so where a device would be overwritten.
    (): RunRequest => ({ jobs, name: name || undefined, tags, confirm }),
    [jobs, name, tags, confirm],
  );
  // Name and tags change nothing about the plan.
  const wanted = useMemo((): RunRequest => ({ jobs, confirm: request.confirm }), [jobs, request.confirm]);
  const { plan, planned, error: planError } = usePlan(wanted, planQuery, file.faults.length === 0 && jobs.length > 0);
  const obstacles = useMemo(() => obstaclesInAll(file, plan, text, jobs.length), [file, plan, text, jobs.length]);
  return { ...edit, name, setName, tags, setTags, confirm, setConfirm, request, plan, planned, planError, obstacles };
}

function useCopyOf(
  from: number | undefined,
  setText: (text: string) => void,
  setName: (name: string) => void,
  setTags: (tags: string[]) => void,
) {
  const { data: run } = useQuery({ ...runQuery(from ?? 0), enabled: from !== undefined });
  useEffect(() => {
    if (!run) return;
    setText(asJobText(run));
    setName(run.name);
    setTags(run.tags);
  }, [run, setText, setName, setTags]);
}

function obstaclesInAll(file: JobFile, plan: Plan | undefined, text: string, jobs: number): Obstacle[] {
  const plain = (line: number | null, sentence: string, remedy: string): Obstacle => ({
    job: null,
    option: null,
    line,
    sentence,
    remedy,
  });
  const faults = file.faults.map(({ line, sentence }) => plain(line, sentence, ''));
  const none = jobs === 0 ? [plain(null, 'There is no job yet.', 'Write a heading such as [t1], or take a preset.')] : [];
  return [...faults, ...none, ...obstaclesOf(plan?.refusals ?? [], text)];
}
