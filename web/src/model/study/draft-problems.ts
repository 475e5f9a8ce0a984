// Assigns syntax errors and the server's problems to the steps of a draft.
import type { Problem } from '../../api';
import { type FormProblem, formProblems } from '../job/form-problems';
import { jobsOf, parseJobText } from '../job/job-text';
import type { StudyDraft } from './draft';

/** Key for problems that do not belong to a step. */
const STUDY = -1;

/** Problems by step index; -1 is the study. `own`: problems with the study itself. */
export function problemsByStep(
  { steps }: StudyDraft,
  problems: readonly Problem[],
  own: FormProblem[] = [],
): Map<number, FormProblem[]> {
  const byStep = new Map(steps.map(({ text }, index) => [index, textProblems(text)]));
  if (own.length > 0) byStep.set(STUDY, own);
  for (const problem of problems) {
    const [, step, field = null] = /^steps\[(\d+)\](?:\.(.*))?$/.exec(problem.field ?? '') ?? [];
    const index = step === undefined ? STUDY : Number(step);
    const located = locate(
      steps[index]?.text ?? '',
      step === undefined ? problem : { ...problem, field },
    );
    byStep.set(index, [...(byStep.get(index) ?? []), located]);
  }
  return byStep;
}

function textProblems(text: string): FormProblem[] {
  const file = parseJobText(text);
  const problems: { line: number | null; detail: string }[] = [...file.errors];
  if (jobsOf(file).length === 0) problems.push({ line: null, detail: 'This step has no job.' });
  return problems.map((problem) => ({ job: null, option: null, remedy: '', ...problem }));
}

/** Only job problems have a line number. */
function locate(text: string, problem: Problem): FormProblem {
  const { field, detail, remedy } = problem;
  const [located] = field?.startsWith('jobs[') ? formProblems([problem], parseJobText(text)) : [];
  return located ?? { job: null, option: field ?? null, line: null, detail, remedy };
}
