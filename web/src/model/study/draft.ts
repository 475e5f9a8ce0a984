// A study in the making: its steps in order, each a job text of its own. What moves, copies and removes them, the document
// that is posted, and where each problem of the server belongs. Not here: what a job means, which is the server's business.
import type { Job, Problem, StepDocument, StudyDocument } from '../../api';
import { type FormProblem, formProblems, UNCHANGED } from '../job/job-form';
import { type JobOptions, jobsOf, parseJobText } from '../job/job-text';

/** One step. */
export interface Step {
  /** Its own for as long as the draft lives; no place. */
  id: number;
  /** Empty: the name of its first job. */
  name: string;
  /** What it is there for; nothing where nothing is said. */
  note?: string;
  text: string;
  /** Its sampling grid in ms; the server's own where nothing is said. */
  sampleMs?: number;
}

/** The draft of a study. */
export interface StudyDraft {
  /** Number of the study that it began as a copy of. */
  from?: number;
  name: string;
  /** Why it is worth doing; nothing where nothing is said. */
  about?: string;
  tags: string[];
  continueOnFailure: boolean;
  /** At least one. */
  steps: Step[];
  /** The step that the form shows, by its id. */
  active: number;
}

/** The most steps; as the server says. */
export const MAX_STEPS = 256;

const nextId = ({ steps }: StudyDraft) => Math.max(0, ...steps.map(({ id }) => id)) + 1;

/** A draft of one step. */
export function newDraft(text: string, sampleMs?: number): StudyDraft {
  return {
    name: '',
    tags: [],
    continueOnFailure: false,
    steps: [{ id: 1, name: '', text, sampleMs }],
    active: 1,
  };
}

/** The place of the step that the form shows. */
export const activeIndex = ({ steps, active }: StudyDraft): number =>
  Math.max(
    0,
    steps.findIndex(({ id }) => id === active),
  );

/** The draft with another step behind the one at a place, which the form then shows. */
function insert(draft: StudyDraft, place: number, step: Omit<Step, 'id'>): StudyDraft {
  if (draft.steps.length >= MAX_STEPS) return draft;
  const id = nextId(draft);
  return { ...draft, steps: draft.steps.toSpliced(place + 1, 0, { ...step, id }), active: id };
}

/** A step with this text at the end. */
export const addStep = (draft: StudyDraft, text: string, sampleMs?: number): StudyDraft =>
  insert(draft, draft.steps.length - 1, { name: '', text, sampleMs });

/** The same step once more, behind itself. */
export function duplicateStep(draft: StudyDraft, place: number): StudyDraft {
  const step = draft.steps[place];
  return step ? insert(draft, place, step) : draft;
}

/** The draft without a step; the last one stays. */
export function removeStep(draft: StudyDraft, place: number): StudyDraft {
  if (draft.steps.length < 2) return draft;
  const steps = draft.steps.toSpliced(place, 1);
  const active = steps.some(({ id }) => id === draft.active)
    ? draft.active
    : (steps[Math.min(place, steps.length - 1)]?.id ?? 0);
  return { ...draft, steps, active };
}

/** The draft with a step moved by so many places; none where there is no such place. */
export function moveStep(draft: StudyDraft, place: number, by: number): StudyDraft {
  const step = draft.steps[place];
  const to = place + by;
  if (!step || to < 0 || to >= draft.steps.length) return draft;
  return { ...draft, steps: draft.steps.toSpliced(place, 1).toSpliced(to, 0, step) };
}

/** The draft with a step changed. */
export const changeStep = (
  draft: StudyDraft,
  place: number,
  change: Partial<Step>,
): StudyDraft => ({
  ...draft,
  steps: draft.steps.map((step, at) => (at === place ? { ...step, ...change } : step)),
});

/** The study as it is posted. */
export function toDocument(
  { name, about, tags, continueOnFailure, steps }: StudyDraft,
  confirm?: string,
): StudyDocument {
  return {
    ...(name && { name }),
    ...(about && { about }),
    ...(tags.length > 0 && { tags }),
    ...(confirm !== undefined && { confirm }),
    ...(continueOnFailure && { continue_on_failure: true }),
    steps: steps.map(stepDocument),
  };
}

function stepDocument({ name, note, text, sampleMs }: Step): StepDocument {
  const jobs = jobsOf(parseJobText(text)).map((options: JobOptions) => options as Job);
  return {
    ...(name && { name }),
    ...(note && { note }),
    ...(sampleMs && { sample_ms: sampleMs }),
    jobs,
  };
}

/** Whether every step can be read, so that the server can be asked. */
export const isComplete = ({ steps }: StudyDraft): boolean =>
  steps.every(({ text }) => {
    const file = parseJobText(text);
    return file.errors.length === 0 && jobsOf(file).length > 0;
  });

/** What is in the way of a study: by the place of the step, and -1 for what is about none. */
export function problemsByStep(
  { steps }: StudyDraft,
  problems: readonly Problem[],
): Map<number, FormProblem[]> {
  const found = new Map<number, FormProblem[]>();
  const add = (place: number, obstacles: FormProblem[]) =>
    found.set(place, [...(found.get(place) ?? []), ...obstacles]);
  steps.forEach(({ text }, place) => {
    const file = parseJobText(text);
    const plain = { job: null, option: null, remedy: '' };
    add(
      place,
      file.errors.map(({ line, detail }) => ({ ...plain, line, detail })),
    );
    if (jobsOf(file).length === 0)
      add(place, [{ ...plain, line: null, detail: 'There is no job in this step yet.' }]);
  });
  for (const problem of problems) {
    const [, index, field = problem.field] =
      /^steps\[(\d+)\]\.(.*)$/.exec(problem.field ?? '') ?? [];
    const place = index === undefined ? -1 : Number(index);
    add(place, [whereIn(steps[place]?.text ?? '', { ...problem, field: field ?? null })]);
  }
  return found;
}

/** A problem about a job stands in the text of its step; one about the step itself does not. */
function whereIn(text: string, problem: Problem): FormProblem {
  const { field, detail, remedy } = problem;
  const [found] = field?.startsWith('jobs[') ? formProblems([problem], text) : [];
  return found ?? { job: null, option: field ?? null, line: null, detail, remedy };
}

/** What a step does, in fio's words: the first of its jobs with its name, and how many there are beside it. */
export function stepSummary({ text }: Step): { job: string; does: string; state: string } {
  const [first, ...others] = jobsOf(parseJobText(text));
  if (!first) return { job: '', does: 'no job yet', state: '' };
  const { name: job = '', rw = 'read', bs = '4k', iodepth, direct, filename } = first;
  const way = filename?.startsWith('/dev/')
    ? 'raw'
    : { '0': 'buffered', '1': 'direct' }[direct ?? ''];
  const words = [
    rw,
    bs,
    iodepth && `× ${iodepth}`,
    way,
    filename,
    others.length > 0 && `and ${others.length} more`,
  ];
  const states = [stateWord('file', first.file_state), stateWord('cache', first.cache_state)];
  return { job, does: words.filter(Boolean).join(' '), state: states.filter(Boolean).join(', ') };
}

const stateWord = (what: string, state: string | undefined) =>
  state && state !== UNCHANGED ? `${what} ${state}` : '';
