// Draft of a study, stored for the browser session. The form shows one step. The server plans all
// steps together, because each step depends on the state in which the previous steps leave the
// targets.
import { useSessionStorage } from '@mantine/hooks';
import { useCallback, useMemo } from 'react';
import type { StudyDefinition, StudyPlan } from '../../api';
import { ApiProblem } from '../../api/problem';
import { studyPlanQuery } from '../../api/queries';
import type { FormProblem } from '../../model/job/form-problems';
import { DEFAULT_JOB_TEXT } from '../../model/job/presets';
import {
  activeIndex,
  addStep,
  changeStep,
  isComplete,
  newDraft,
  type StudyDraft,
  toDocument,
} from '../../model/study/draft';
import { problemsByStep } from '../../model/study/draft-problems';
import { firstStep } from '../../model/study/sweep';
import { useByValue } from './use-by-value';
import { type Confirmations, isNotConfirmed, useConfirmations } from './use-confirmations';
import { useJobForm } from './use-job-form';
import { type JobDraft, useJobText } from './use-job-text';
import { usePlan } from './use-plan';

export interface StudyEditor {
  draft: StudyDraft;
  change: (edit: (draft: StudyDraft) => StudyDraft) => void;
  clear: () => void;
  /** Index of the step that the form shows. */
  index: number;
  /** Job text of the step that the form shows. */
  job: JobDraft;
  document: StudyDefinition;
  plan: StudyPlan | undefined;
  /** False if `plan` is for an older draft. */
  isPlanCurrent: boolean;
  confirmations: Confirmations;
  /** Problems by step index; -1 is the study itself. */
  problems: Map<number, FormProblem[]>;
  hasProblems: boolean;
}

/** Null if there is no draft. */
export const useStoredStudy = () =>
  useSessionStorage<StudyDraft | null>({ key: 'leadline-study', defaultValue: null });

/** Adds a job text to the end of the draft, as a new step. */
export function useAddToStudy() {
  const [stored, store] = useStoredStudy();
  const addToStudy = (text: string, sampleMs?: number) =>
    store(stored ? addStep(stored, text, sampleMs) : newDraft(text, sampleMs));
  return { stepCount: stored?.steps.length ?? 0, addToStudy };
}

/**
 * Returns the plan of the first study step that is created from a form step. It is not the first
 * plan, because runs are in random order.
 */
function firstPlan({ steps }: StudyPlan, index: number) {
  const first = firstStep(index, steps);
  return steps.find(({ step }) => step === first)?.plan;
}

export function useStudyEditor(): StudyEditor {
  const [stored, store] = useStoredStudy();
  const draft = useMemo(() => stored ?? newDraft(DEFAULT_JOB_TEXT), [stored]);
  const change = useCallback(
    (edit: (draft: StudyDraft) => StudyDraft) =>
      store((old) => edit(old ?? newDraft(DEFAULT_JOB_TEXT))),
    [store],
  );
  const changeText = useCallback(
    (edit: (text: string) => string) =>
      change((old) => {
        const active = activeIndex(old);
        return changeStep(old, active, { text: edit(old.steps[active]?.text ?? '') });
      }),
    [change],
  );
  const index = activeIndex(draft);
  const jobText = useJobText(draft.steps[index]?.text ?? '', changeText);
  const planned = useMemo(() => toDocument(draft), [draft]);
  const { plan, isPlanCurrent, planError } = usePlan(planned, studyPlanQuery, isComplete(draft));
  const confirmations = useConfirmations(plan?.confirmations);
  const { confirm } = confirmations;
  const document = confirm ? { ...planned, confirm } : planned;
  const rejected = planError instanceof ApiProblem ? planError.problems : [];
  const found = (plan?.problems ?? rejected).filter((problem) => !isNotConfirmed(problem));
  const problems = problemsByStep(draft, found, confirmations.problems);
  const jobProblems = useByValue(problems.get(index) ?? []);
  const form = useJobForm(jobText.jobs, jobProblems, changeText);
  const job = {
    ...jobText,
    form,
    plan: plan && firstPlan(plan, index),
    isPlanCurrent,
    planError: rejected.length > 0 ? null : planError,
    problems: jobProblems,
  };
  const hasProblems = [...problems.values()].some((found) => found.length > 0);
  const clear = () => store(null);
  return {
    draft,
    change,
    clear,
    index,
    job,
    document,
    plan,
    isPlanCurrent,
    confirmations,
    problems,
    hasProblems,
  };
}
