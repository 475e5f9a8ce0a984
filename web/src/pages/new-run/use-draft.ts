// The run that is being built. Its job text is the one truth; fields read from it and edit it. It survives a reload in
// the browser's session, and may begin as a copy of an earlier run.
import { useDebouncedValue, useSessionStorage } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Plan, RunRequest } from '../../api';
import { planQuery, runQuery } from '../../api/queries';
import { asFioJob } from '../../model/copy-as';
import { type Obstacle, obstaclesOf } from '../../model/job-form';
import { type JobFile, type JobOptions, jobsOf, parseJobText, setOption } from '../../model/job-text';
import { FIRST_TEXT } from '../../model/presets';

/** A run in the making. */
export interface Draft {
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
  drop: (option: string) => void;
  /** Takes an option out whose value was left empty. */
  settle: (option: string) => void;
  name: string;
  setName: (name: string) => void;
  tags: string[];
  setTags: (tags: string[]) => void;
  confirm: string;
  setConfirm: (confirm: string) => void;
  request: RunRequest;
  plan: Plan | undefined;
  /** Whether the plan is that of the text as it stands. */
  planned: boolean;
  planError: Error | null;
  obstacles: Obstacle[];
}

/** How long typing must rest before the server is asked, in ms. */
const REST_MS = 250;

/** The draft; `from` is the number of a run to begin with. */
export function useDraft(from: number | undefined): Draft {
  const [text, setText] = useSessionStorage({ key: 'leadline-draft', defaultValue: FIRST_TEXT });
  const [active, setActive] = useState(0);
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const [confirm, setConfirm] = useState('');
  useCopyOf(from, setText, setName, setTags);

  const file = useMemo(() => parseJobText(text), [text]);
  const jobs = useMemo(() => jobsOf(file), [file]);
  const index = Math.min(active, Math.max(0, jobs.length - 1));
  const set = useCallback(
    (option: string, value: string) => setText((old) => setOption(old, index, option, value)),
    [setText, index],
  );
  const drop = useCallback((option: string) => setText((old) => setOption(old, index, option, null)), [setText, index]);
  const settle = useCallback(
    (option: string) =>
      setText((old) => (jobsOf(parseJobText(old))[index]?.[option] ? old : setOption(old, index, option, null))),
    [setText, index],
  );
  const request = useMemo(
    (): RunRequest => ({ jobs, name: name || undefined, tags, confirm: confirm || undefined }),
    [jobs, name, tags, confirm],
  );
  const { plan, planned, planError } = usePlan(request, file.faults.length === 0 && jobs.length > 0);
  const obstacles = useMemo(() => obstaclesInAll(file, plan, text, jobs.length), [file, plan, text, jobs.length]);
  return {
    text,
    setText,
    file,
    jobs,
    active: index,
    setActive,
    job: jobs[index] ?? {},
    set,
    drop,
    settle,
    name,
    setName,
    tags,
    setTags,
    confirm,
    setConfirm,
    request,
    plan,
    planned,
    planError,
    obstacles,
  };
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
    setText(asFioJob(run));
    setName(run.name);
    setTags(run.tags);
  }, [run, setText, setName, setTags]);
}

/** The server's plan of the request, asked for when typing rests. Name and tags change nothing about it. */
function usePlan({ jobs, confirm }: RunRequest, complete: boolean) {
  const wanted = useMemo((): RunRequest => ({ jobs, confirm }), [jobs, confirm]);
  const [asked] = useDebouncedValue(wanted, REST_MS);
  const { data, error, isPlaceholderData } = useQuery({
    ...planQuery(asked),
    enabled: complete,
    placeholderData: keepPreviousData,
  });
  return {
    plan: complete ? data : undefined,
    planned: complete && data !== undefined && asked === wanted && !isPlaceholderData,
    planError: complete ? error : null,
  };
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
