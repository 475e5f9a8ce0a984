// The study that is being built: its steps are kept in the browser's session, the form shows one of them, and the server
// plans all of them together, each on the host as the steps before will have left it.
import { useDebouncedValue, useSessionStorage } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { StudyDocument, StudyPlan } from '../../api';
import { ApiProblem } from '../../api/problem';
import { studyPlanQuery } from '../../api/queries';
import type { Obstacle } from '../../model/job-form';
import { FIRST_TEXT } from '../../model/presets';
import {
  addStep,
  changeStep,
  documentOf,
  isReadable,
  obstaclesByStep,
  placeOfActive,
  type StudyDraft,
  studyOf,
} from '../../model/study-form';
import { type Draft, REST_MS, useJob } from './use-job';

/** A study in the making. */
export interface StudyInTheMaking {
  draft: StudyDraft;
  change: (change: (draft: StudyDraft) => StudyDraft) => void;
  /** Forgets all of it. */
  clear: () => void;
  /** The place of the step that the form shows, from 0. */
  place: number;
  /** The job text of that step. */
  job: Draft;
  document: StudyDocument;
  plan: StudyPlan | undefined;
  /** By the place of the step; -1 for what is about none. */
  obstacles: Map<number, Obstacle[]>;
  /** Whether anything is in the way. */
  blocked: boolean;
}

const KEY = 'leadline-study';

/** Takes a job text over into the study: as its first step, or behind those that it has. */
export function useTakeOver() {
  const [kept, keep] = useSessionStorage<StudyDraft | null>({ key: KEY, defaultValue: null });
  return { steps: kept?.steps.length ?? 0, take: (text: string) => keep(kept ? addStep(kept, text) : studyOf(text)) };
}

/** The study. */
export function useStudy(): StudyInTheMaking {
  const [kept, keep] = useSessionStorage<StudyDraft | null>({ key: KEY, defaultValue: null });
  const draft = useMemo(() => kept ?? studyOf(FIRST_TEXT), [kept]);
  const change = useCallback(
    (edit: (draft: StudyDraft) => StudyDraft) => keep((old) => edit(old ?? studyOf(FIRST_TEXT))),
    [keep],
  );
  const [confirm, setConfirm] = useState('');
  const changeText = useCallback(
    (edit: (text: string) => string) =>
      change((old) => {
        const at = placeOfActive(old);
        return changeStep(old, at, { text: edit(old.steps[at]?.text ?? '') });
      }),
    [change],
  );
  const place = placeOfActive(draft);
  const edit = useJob(draft.steps[place]?.text ?? '', changeText);
  const document = useMemo(() => documentOf(draft, confirm), [draft, confirm]);
  const { plan, planned, error } = usePlan(document, isReadable(draft));
  const refused = error instanceof ApiProblem ? error.refusals : [];
  const obstacles = obstaclesByStep(draft, plan?.refusals ?? refused);
  const planError = refused.length > 0 ? null : error;
  const own = obstacles.get(place) ?? [];
  const job = { ...edit, confirm, setConfirm, plan: plan?.steps[place]?.plan, planned, planError, obstacles: own };
  const blocked = [...obstacles.values()].some((found) => found.length > 0);
  return { draft, change, clear: () => keep(null), place, job, document, plan, obstacles, blocked };
}

/** The server's plan of the study, asked for when typing rests. */
function usePlan(document: StudyDocument, complete: boolean) {
  const [asked] = useDebouncedValue(document, REST_MS);
  const { data, error, isPlaceholderData } = useQuery({
    ...studyPlanQuery(asked),
    enabled: complete,
    placeholderData: keepPreviousData,
    retry: false,
  });
  return {
    plan: complete ? data : undefined,
    planned: complete && data !== undefined && asked === document && !isPlaceholderData,
    error: complete ? error : null,
  };
}
