// A study ready to be shown: where it stands, its steps as rows beside the figures that others published, and which of
// its runs can be laid over each other.
import type { Published, Study, StudyStatus, StudyStep } from '../../api';
import { formatChange, MAX_RUNS } from '../compare/metrics';
import { latency, rate, shortCount, text, UNKNOWN } from '../format/numbers';
import { STATUS } from '../run/summary';
import { type Badge, badgeOf } from '../run/verdict';

/** How a study's status is shown; its words are those of runs, and one of its own. */
export const STUDY_STATUS: Record<
  StudyStatus,
  { label: string; kind: 'pending' | 'running' | 'success' | 'failure' }
> = {
  queued: STATUS.queued,
  running: { label: 'running', kind: 'running' },
  done: STATUS.done,
  failed: STATUS.failed,
  cancelled: STATUS.cancelled,
  interrupted: STATUS.interrupted,
};

/** Whether a study waits or runs. */
export const isStudyActive = (status: StudyStatus): boolean =>
  ['pending', 'running'].includes(STUDY_STATUS[status].kind);

/** One step as a row. */
export interface StepRow {
  step: number;
  name: string;
  note: string;
  /** Number of its run; null when that was deleted. */
  run: number | null;
  /** What it does while it has no numbers yet, or what became of it; empty when it is done. */
  status: string;
  iops: string;
  change: string;
  bandwidth: string;
  p99: string;
  badge: Badge | null;
  sentence: string;
  /** What was published for the same, one cell a column. */
  published: string[];
}

/** The rows of a study, in order. Published rows that no step does stand at the end, without a step. */
export function stepRows({ steps, published }: Pick<Study, 'steps' | 'published'>): StepRow[] {
  const columns = published?.columns.length ?? 0;
  const beside = (step: number) =>
    published?.rows.find((row) => row.step === step)?.cells ?? blank(columns);
  const without =
    published?.rows.filter(({ step }) => !steps.some((other) => other.step === step)) ?? [];
  return [
    ...steps.map((step) => rowOf(step, beside(step.step))),
    ...without.map(({ cells }) => publishedOnly(cells)),
  ];
}

const blank = (columns: number): string[] => Array.from({ length: columns }, () => '');

function rowOf(
  { step, name, note, run, sentence, iops_change_percent }: StudyStep,
  published: string[],
): StepRow {
  return {
    step,
    name,
    note: note ?? '',
    run: run?.number ?? null,
    status: standingOf(run),
    iops: text(shortCount(run?.iops)),
    change: formatChange(iops_change_percent ?? null),
    bandwidth: text(rate(run?.bytes_per_second)),
    p99: text(latency(run?.lat_p99_ns)),
    badge: run?.verdict ? badgeOf(run.verdict) : null,
    sentence: sentence ?? '',
    published,
  };
}

function standingOf(run: StudyStep['run']): string {
  if (!run) return 'its run was deleted';
  if (run.status === 'done') return '';
  return [STATUS[run.status].label, run.reason].filter(Boolean).join(': ');
}

function publishedOnly(published: string[]): StepRow {
  const nothing = {
    iops: UNKNOWN,
    change: '',
    bandwidth: UNKNOWN,
    p99: UNKNOWN,
    badge: null,
    sentence: '',
  };
  return {
    step: 0,
    name: published[0] ?? '',
    note: 'Published; no step here does the same.',
    run: null,
    status: '',
    ...nothing,
    published,
  };
}

/** The heads of the published columns, and how they stand together. */
export const publishedHeads = (published: Published | null | undefined): readonly string[] =>
  published?.columns ?? [];

/** The runs whose numbers can be laid over each other: the first eight that ended with a result. */
export const comparableRuns = ({ steps }: Pick<Study, 'steps'>): number[] =>
  steps.flatMap(({ run }) => (run?.status === 'done' ? [run.number] : [])).slice(0, MAX_RUNS);

/** The step that runs now; null when none does. */
export const runningStep = ({ steps }: Pick<Study, 'steps'>): StudyStep | null =>
  steps.find(({ run }) => run && STATUS[run.status].kind === 'running') ?? null;
