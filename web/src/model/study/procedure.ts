// Procedures in the study form: their base job and their settings.
import type { Job, Procedure, SniaTestDefinition } from '../../api';
import { jobsOf, parseJobText, writeJobText } from '../job/job-text';
import type { StudyDraft } from './draft';

/** Options that an SNIA test sets itself. The server rejects them in the base job. */
const TEST_OPTIONS = [
  'bs',
  'blocksize',
  'bsrange',
  'bssplit',
  'io_size',
  'loops',
  'norandommap',
  'number_ios',
  'percentage_random',
  'ramp_time',
  'random_distribution',
  'randseed',
  'rw',
  'readwrite',
  'rwmixread',
  'rwmixwrite',
  'runtime',
  'startdelay',
  'time_based',
  'timeout',
] as const;

function removeTestOptions(job: Job): Job {
  const isKept = ([name]: [string, unknown]) =>
    name !== 'name' && !(TEST_OPTIONS as readonly string[]).includes(name);
  return Object.fromEntries(Object.entries(job).filter(isKept)) as Job;
}

/** Options that a load curve sets itself. The server rejects them in the base job. */
const CURVE_OPTIONS = [
  'loops',
  'number_ios',
  'overload_time',
  'ramp_time',
  'randseed',
  'rate',
  'rate_iops',
  'rate_process',
  'runtime',
  'startdelay',
  'thinktime',
  'time_based',
  'timeout',
  'unlink',
] as const;

const removeCurveOptions = (job: Job): Job =>
  Object.fromEntries(
    Object.entries(job).filter(([name]) => !(CURVE_OPTIONS as readonly string[]).includes(name)),
  ) as Job;

/** Converts a stored procedure's settings to a definition for the form. */
export function toDefinition(procedure: Procedure): Pick<StudyDraft, 'snia' | 'loadCurve'> {
  if (procedure.kind === 'load_curve') {
    const { kind: _, base: __, ...settings } = procedure;
    return { loadCurve: settings };
  }
  const { kind: _, purge_note, blocks, ...others } = procedure;
  const snia = {
    ...others,
    blocks: blocks.map((bytes) => (bytes % 1024 === 0 ? `${bytes / 1024}k` : String(bytes))),
    ...(purge_note && { purge_note }),
  };
  return { snia };
}

export const baseJob = (job: Job, { kind }: Procedure): Job =>
  kind === 'snia' ? removeTestOptions(job) : removeCurveOptions(job);

/**
 * Replaces the steps with an SNIA test of the first job's target. If `snia` is undefined, removes
 * the procedure and keeps the steps.
 */
export function withTest(draft: StudyDraft, snia: SniaTestDefinition | undefined): StudyDraft {
  const depth = snia?.test === 'latency' ? { iodepth: 1, numjobs: 1 } : {};
  return snia
    ? { ...keepFirstJob(draft, (job) => ({ ...removeTestOptions(job), ...depth })), snia }
    : { ...draft, snia: undefined, loadCurve: undefined };
}

/** Turns the draft into a load–latency curve for its first job. */
export const withCurve = (draft: StudyDraft): StudyDraft => ({
  ...keepFirstJob(draft, removeCurveOptions),
  loadCurve: draft.loadCurve ?? {},
});

/** Keeps only the first step's first job, with `change` applied to it. */
function keepFirstJob(draft: StudyDraft, change: (job: Job) => object): StudyDraft {
  const [first] = draft.steps;
  if (!first) return draft;
  const [job] = jobsOf(parseJobText(first.text));
  const changed = change((job ?? {}) as Job) as Record<string, unknown>;
  const step = { ...first, name: '', text: writeJobText([changed]) };
  return { ...draft, snia: undefined, loadCurve: undefined, steps: [step], active: step.id };
}
