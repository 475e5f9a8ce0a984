// The study that is being built: its steps are kept in the browser's session, the form shows one of them, and the server
// plans all of them together, each on the host as the steps before will have left it.
import { useSessionStorage } from '@mantine/hooks';
import { useCallback, useMemo, useState } from 'react';
import type { StudyDocument, StudyPlan } from '../../api';
import { ApiProblem } from '../../api/problem';
import { studyPlanQuery } from '../../api/queries';
import type { FormProblem } from '../../model/job/job-form';
import { FIRST_TEXT } from '../../model/job/presets';
import {
  activeIndex,
  addStep,
  changeStep,
  isComplete,
  newDraft,
  problemsByStep,
  type StudyDraft,
  toDocument,
} from '../../model/study/draft';
import { type JobDraft, useJobText } from './use-job';
import { usePlan } from './use-plan';

/** A study in the making. */
export interface StudyEditor {
  draft: StudyDraft;
  change: (change: (draft: StudyDraft) => StudyDraft) => void;
  /** Forgets all of it. */
  clear: () => void;
  /** The place of the step that the form shows, from 0. */
  place: number;
  /** The job text of that step. */
  job: JobDraft;
  document: StudyDocument;
  plan: StudyPlan | undefined;
  /** By the place of the step; -1 for what is about none. */
  obstacles: Map<number, FormProblem[]>;
  /** Whether anything is in the way. */
  blocked: boolean;
}

/** The draft as it is kept in the browser's session; null when there is none. */
export const useStoredStudy = () =>
  useSessionStorage<StudyDraft | null>({ key: 'leadline-study', defaultValue: null });

/** Takes a job text over into the study: as its first step, or behind those that it has. */
export function useAddToStudy() {
  const [kept, keep] = useStoredStudy();
  const take = (text: string, sampleMs?: number) =>
    keep(kept ? addStep(kept, text, sampleMs) : newDraft(text, sampleMs));
  return { steps: kept?.steps.length ?? 0, take };
}

/** The study. */
export function useStudyEditor(): StudyEditor {
  const [kept, keep] = useStoredStudy();
  const draft = useMemo(() => kept ?? newDraft(FIRST_TEXT), [kept]);
  const change = useCallback(
    (edit: (draft: StudyDraft) => StudyDraft) => keep((old) => edit(old ?? newDraft(FIRST_TEXT))),
    [keep],
  );
  const [confirm, setConfirm] = useState('');
  const changeText = useCallback(
    (edit: (text: string) => string) =>
      change((old) => {
        const at = activeIndex(old);
        return changeStep(old, at, { text: edit(old.steps[at]?.text ?? '') });
      }),
    [change],
  );
  const place = activeIndex(draft);
  const edit = useJobText(draft.steps[place]?.text ?? '', changeText);
  const document = useMemo(() => toDocument(draft, confirm), [draft, confirm]);
  const { plan, planned, error } = usePlan(document, studyPlanQuery, isComplete(draft));
  const refused = error instanceof ApiProblem ? error.problems : [];
  const obstacles = problemsByStep(draft, plan?.problems ?? refused);
  const planError = refused.length > 0 ? null : error;
  const own = obstacles.get(place) ?? [];
  const job = {
    ...edit,
    confirm,
    setConfirm,
    plan: plan?.steps[place]?.plan,
    planned,
    planError,
    obstacles: own,
  };
  const blocked = [...obstacles.values()].some((found) => found.length > 0);
  return { draft, change, clear: () => keep(null), place, job, document, plan, obstacles, blocked };
}
