// Copies a study into a draft. Each step's job text comes from its runs.
import type { Job, Procedure, Run, Study } from '../../api';
import { toJobText } from '../job/export';
import { writeJobText } from '../job/job-text';
import { type Step, type StudyDraft, sweepField } from './draft';
import { baseJob, toDefinition } from './procedure';
import { axesOf, baseName, sweepText } from './sweep';

/** The placeholder for the file ID in job text. */
const PLACEHOLDER = '$study';
/** File ID format. The runner generates the IDs. */
const FILE_ID = /[0-9a-f]{16}/;

/** `runs`: the steps' runs, excluding deleted ones. Steps that have no run get no text. */
export function draftOfStudy(study: Study, runs: readonly Run[]): StudyDraft {
  if (study.procedure) return draftOfProcedure(study, study.procedure, runs);
  const fileId = findFileId(runs);
  const repeats = study.repeats;
  const axes = axesOf(study.steps);
  const [first] = study.steps.toSorted((a, b) => a.step - b.step);
  // A sweep's steps differ only in the swept options, so one step represents them all.
  const once = study.steps.filter(
    ({ repeat, sweep }) => repeat === 1 && sweepText({ sweep }) === sweepText(first ?? { sweep }),
  );
  const inOrder = once.toSorted((a, b) => a.step - b.step);
  const steps = inOrder.map(({ step, name, sweep, note, run }): Step => {
    const requested = runs.find(({ number }) => number === run?.number)?.requested;
    const jobs = requested?.jobs.map((job) => requestedJob(job, fileId, repeats > 1));
    const text = requested && jobs ? toJobText({ requested: { ...requested, jobs } }) : '';
    return {
      id: step,
      name: baseName({ name, sweep }),
      note: note ?? '',
      text,
      sampleMs: requested?.sample_ms,
    };
  });
  return {
    from: study.number,
    name: study.name,
    about: study.about ?? '',
    tags: runs[0]?.tags.filter((tag) => runs.every((run) => run.tags.includes(tag))) ?? [],
    continueOnFailure: study.continue_on_failure,
    repeats,
    // The default depends on whether steps are repeated.
    ...(study.idle_wait_seconds !== defaultIdleWaitSeconds(study) && {
      idleWaitSeconds: study.idle_wait_seconds,
    }),
    ...(study.until_decided && { untilDecided: study.until_decided.metrics }),
    ...(study.order === 'sequential' && { order: study.order }),
    ...(study.order_seed != null && isOrdered(study) && { orderSeed: study.order_seed }),
    sweep: axes.map(({ option, values }) => sweepField(option, values)),
    steps,
    active: steps[0]?.id ?? 1,
  };
}

/**
 * The procedure derives all runs from one base job, so the base job can be restored from any run.
 */
function draftOfProcedure(study: Study, procedure: Procedure, runs: readonly Run[]): StudyDraft {
  const fileId = findFileId(runs);
  const jobs = runs.at(-1)?.requested.jobs.slice(0, 1) ?? [];
  const base = jobs.map((job) => baseJob(replaceFileId(job, fileId), procedure));
  return {
    from: study.number,
    name: study.name,
    about: study.about ?? '',
    tags: runs[0]?.tags ?? [],
    continueOnFailure: study.continue_on_failure,
    ...toDefinition(procedure),
    steps: [{ id: 1, name: '', text: writeJobText(base as Record<string, unknown>[]) }],
    active: 1,
  };
}

/** The seed has no effect if a study has no repeats. */
const isOrdered = ({ repeats }: Study): boolean => repeats > 1;

const defaultIdleWaitSeconds = ({ repeats, order }: Study): number =>
  repeats > 1 && order === 'interleaved' ? 10 : 0;

/** Returns the file ID from the first path that the study created, or null. */
function findFileId(runs: readonly Run[]): string | null {
  const seen = new Set<string>();
  const jobs = runs.flatMap(({ resolved }) => resolved ?? []);
  for (const { path, existed } of jobs.flatMap(({ targets }) => targets)) {
    const id = FILE_ID.exec(path)?.[0];
    if (id && !existed && !seen.has(path)) return id;
    seen.add(path);
  }
  return null;
}

/** In a study with repeats, each run of a job gets a new random seed. */
function requestedJob(job: Job, fileId: string | null, isRepeated: boolean): Job {
  const replaced = replaceFileId(job, fileId);
  if (!isRepeated) return replaced;
  const { randseed, ...others } = replaced;
  return others;
}

function replaceFileId(job: Job, fileId: string | null): Job {
  if (fileId === null) return job;
  const replaced = { ...job };
  for (const name of ['filename', 'directory'] as const) {
    const value = job[name];
    if (typeof value === 'string') replaced[name] = value.replaceAll(fileId, PLACEHOLDER);
  }
  return replaced;
}
