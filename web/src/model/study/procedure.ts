// Procedures in the form of a study: their base job and their settings.
import type { Job, Procedure, SniaTestDefinition } from '../../api';
import { jobsOf, parseJobText, writeJobText } from '../job/job-text';
import type { StudyDraft } from './draft';

/** Options that a procedure sets; the server rejects them in its base job. */
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

export function withoutTestOptions(job: Job): Job {
  const isKept = ([name]: [string, unknown]) =>
    name !== 'name' && !(TEST_OPTIONS as readonly string[]).includes(name);
  return Object.fromEntries(Object.entries(job).filter(isKept));
}

/** The settings of a stored procedure as a definition. */
export function definitionOf({ kind: _, ...test }: Procedure): Pick<StudyDraft, 'snia'> {
  const { purge_note, blocks, ...others } = test;
  const snia = {
    ...others,
    blocks: blocks.map((bytes) => (bytes % 1024 === 0 ? `${bytes / 1024}k` : String(bytes))),
    ...(purge_note && { purge_note }),
  };
  return { snia };
}

/** Starts a test with the target of the draft's first job. */
export function withTest(draft: StudyDraft, snia: SniaTestDefinition | undefined): StudyDraft {
  const [first] = draft.steps;
  if (!snia || !first) return { ...draft, snia: undefined };
  const [job] = jobsOf(parseJobText(first.text));
  const base = withoutTestOptions((job ?? {}) as Job) as Record<string, unknown>;
  const isLatency = snia.test === 'latency';
  const depth = isLatency ? { iodepth: 1, numjobs: 1 } : {};
  const step = { ...first, name: '', text: writeJobText([{ ...base, ...depth }]) };
  return { ...draft, snia, steps: [step], active: step.id };
}
