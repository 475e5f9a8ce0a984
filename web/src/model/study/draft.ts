// A study draft: its steps with their job text, edits to the list of steps, and the document
// to post. See `job/job-text` for job text, and `draft-problems` for problems.
import type {
  ComparedMetricName,
  Job,
  LoadCurveDefinition,
  RepeatOrder,
  SniaTestDefinition,
  StepDefinition,
  StudyDefinition,
  SweptOption,
} from '../../api';
import { jobsOf, parseJobText } from '../job/job-text';

export interface Step {
  /** Unique within the draft. Not the step's index. */
  id: number;
  /** If empty, the name of the step's first job is used. */
  name: string;
  note?: string;
  text: string;
  /** Sampling interval in ms; the server's default if unset. */
  sampleMs?: number;
}

/** A swept option, as entered by the user. */
export interface SweepField {
  option: string;
  /** Separated by spaces or commas. Values that contain commas are in double quotes. */
  values: string;
}

export interface StudyDraft {
  /** Number of the copied study. */
  from?: number;
  name: string;
  about?: string;
  tags: string[];
  continueOnFailure: boolean;
  /** How many times each step runs; once if unset. */
  repeats?: number;
  /** The study ends as soon as these metrics are decided. Empty for the default metrics. */
  untilDecided?: string[];
  /** Maximum wait for idle devices before each run, in seconds; the server's default if unset. */
  idleWaitSeconds?: number;
  /** Order of the repeats; interleaved if unset. */
  order?: RepeatOrder;
  /**
   * Seed of the copied study, which gives the same order and the same random seeds. Random if
   * unset.
   */
  orderSeed?: number;
  sweep?: SweepField[];
  /** A test whose runs are derived from the first step's job. */
  snia?: SniaTestDefinition;
  /** A load–latency curve for the first step's job. */
  loadCurve?: LoadCurveDefinition;
  /** At least one. */
  steps: Step[];
  /** ID of the step that the form shows. */
  active: number;
}

/** The same limit as on the server. */
export const MAX_STEPS = 1024;

export function newDraft(text: string, sampleMs?: number): StudyDraft {
  const steps = [{ id: 1, name: '', text, sampleMs }];
  return { name: '', tags: [], continueOnFailure: false, steps, active: 1 };
}

/** Index of the step that the form shows. */
export function activeIndex({ steps, active }: StudyDraft): number {
  const index = steps.findIndex(({ id }) => id === active);
  return Math.max(0, index);
}

/** Inserts a step after `index` and activates it. */
function insert(draft: StudyDraft, index: number, step: Omit<Step, 'id'>): StudyDraft {
  if (draft.steps.length >= MAX_STEPS) return draft;
  const id = Math.max(0, ...draft.steps.map((other) => other.id)) + 1;
  return { ...draft, steps: draft.steps.toSpliced(index + 1, 0, { ...step, id }), active: id };
}

export const addStep = (draft: StudyDraft, text: string, sampleMs?: number): StudyDraft =>
  insert(draft, draft.steps.length - 1, { name: '', text, sampleMs });

export function duplicateStep(draft: StudyDraft, index: number): StudyDraft {
  const step = draft.steps[index];
  return step ? insert(draft, index, step) : draft;
}

/** Removes a step, unless it is the only one. */
export function removeStep(draft: StudyDraft, index: number): StudyDraft {
  if (draft.steps.length < 2) return draft;
  const steps = draft.steps.toSpliced(index, 1);
  const isKept = steps.some(({ id }) => id === draft.active);
  const next = steps[Math.min(index, steps.length - 1)];
  return { ...draft, steps, active: isKept ? draft.active : (next?.id ?? 0) };
}

/** Moves a step by `by` positions. Does nothing if that would be outside the list. */
export function moveStep(draft: StudyDraft, index: number, by: number): StudyDraft {
  const step = draft.steps[index];
  const to = index + by;
  if (!step || to < 0 || to >= draft.steps.length) return draft;
  return { ...draft, steps: draft.steps.toSpliced(index, 1).toSpliced(to, 0, step) };
}

export const changeStep = (
  draft: StudyDraft,
  index: number,
  change: Partial<Step>,
): StudyDraft => ({
  ...draft,
  steps: draft.steps.map((step, i) => (i === index ? { ...step, ...change } : step)),
});

/** The document to post. Empty fields are omitted. */
export function toDocument({
  name,
  about,
  tags,
  continueOnFailure,
  repeats,
  untilDecided,
  idleWaitSeconds,
  order,
  orderSeed,
  sweep,
  snia,
  loadCurve,
  steps,
}: StudyDraft): StudyDefinition {
  const procedure = snia ?? loadCurve;
  const axes = procedure ? [] : sweepAxes(sweep ?? []);
  return {
    ...(name && { name }),
    ...(about && { about }),
    ...(tags.length > 0 && { tags }),
    ...(continueOnFailure && { continue_on_failure: true }),
    ...(snia && { snia }),
    ...(loadCurve && { load_curve: loadCurve }),
    ...(repeats && repeats > 1 && !procedure && { repeats }),
    ...(order === 'sequential' && { order }),
    ...(orderSeed !== undefined && { order_seed: orderSeed }),
    ...(idleWaitSeconds !== undefined && { idle_wait_seconds: idleWaitSeconds }),
    ...(untilDecided && !procedure && { until_decided: untilDecidedDocument(untilDecided) }),
    ...(axes.length > 0 && { sweep: axes }),
    steps: steps.map(stepDocument),
  };
}

/** Returns true if a test or a curve defines the runs. */
export const hasProcedure = ({ snia, loadCurve }: StudyDraft): boolean =>
  snia !== undefined || loadCurve !== undefined;

const untilDecidedDocument = (metrics: string[]) =>
  metrics.length > 0 ? { metrics: metrics as ComparedMetricName[] } : {};

/** Rows with no option or no values are omitted. The server checks the option names. */
const sweepAxes = (sweep: readonly SweepField[]) =>
  sweep
    .map(({ option, values }) => ({
      option: option.trim() as SweptOption,
      values: sweepValues(values),
    }))
    .filter(({ option, values }) => (option as string) !== '' && values.length > 0);

/** `1 2, "4k,8k"` has three values. */
const sweepValues = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|([^\s,"]+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** Formats values as they are entered in the form. */
export const sweepField = (option: string, values: readonly string[]): SweepField => ({
  option,
  values: values.map((value) => (/[\s,]/.test(value) ? `"${value}"` : value)).join(' '),
});

function stepDocument({ name, note, text, sampleMs }: Step): StepDefinition {
  return {
    ...(name && { name }),
    ...(note && { note }),
    ...(sampleMs && { sample_ms: sampleMs }),
    jobs: jobsOf(parseJobText(text)) as Job[],
  };
}

/**
 * Returns true if every step's text is syntactically valid, so that the server can plan it.
 */
export const isComplete = ({ steps }: StudyDraft): boolean =>
  steps.every(({ text }) => {
    const file = parseJobText(text);
    return file.errors.length === 0 && jobsOf(file).length > 0;
  });
