// A study's table: one row per step with its result and the published figures. Also selects
// runs to compare.
import type { Published, Study, StudyStatus, StudyStep } from '../../api';
import { formatChange } from '../compare/metrics';
import { MAX_RUNS, MIN_RUNS } from '../compare/run-numbers';
import { latency, plural, rate, shortCount, text, UNKNOWN } from '../format/numbers';
import { STATUS, type StatusLabel } from '../run/summary';
import { type Badge, badgeOf } from '../run/verdict';

export const STUDY_STATUS: Record<StudyStatus, StatusLabel> = {
  queued: STATUS.queued,
  running: { label: 'Running', kind: 'running' },
  done: STATUS.done,
  failed: STATUS.failed,
  cancelled: STATUS.cancelled,
  interrupted: STATUS.interrupted,
};

export const isStudyActive = (status: StudyStatus): boolean =>
  ['pending', 'running'].includes(STUDY_STATUS[status].kind);

export interface StepRow {
  step: number;
  /** For example, `repeat 2`; empty if the step is not repeated. */
  repeat: string;
  name: string;
  note: string;
  /** Number of the run; null if it was deleted. */
  run: number | null;
  /** Empty if the run has finished. */
  status: string;
  iops: string;
  change: string;
  bandwidth: string;
  p99: string;
  badge: Badge | null;
  sentence: string;
  /** Published figures, one per column. */
  published: string[];
}

/** Returns the steps by number and repeat, followed by published rows that match no step. */
export function stepRows({
  steps,
  published,
  repeats,
  procedure,
}: Pick<Study, 'steps' | 'published' | 'repeats' | 'procedure'>): StepRow[] {
  const rows = published?.rows ?? [];
  const blank = (published?.columns ?? []).map(() => '');
  const numbers = new Set(steps.map(({ step }) => step));
  return [
    ...steps.toSorted(inOrder).map((step) => ({
      ...rowOf(step, rows.find((row) => row.step === step.step)?.cells ?? blank),
      repeat:
        procedure?.kind === 'load_curve'
          ? sameNameText(step, steps)
          : repeats > 1
            ? `repeat ${step.repeat}`
            : '',
    })),
    ...rows.filter(({ step }) => !numbers.has(step ?? -1)).map(({ cells }) => publishedRow(cells)),
  ];
}

/** A load curve repeats a rate as another step with the same name. For example, `run 2 of 3`. */
function sameNameText({ step, name }: StudyStep, steps: readonly StudyStep[]): string {
  const numbers = steps
    .filter((other) => other.name === name)
    .map((other) => other.step)
    .sort((a, b) => a - b);
  return numbers.length > 1 ? `run ${numbers.indexOf(step) + 1} of ${numbers.length}` : '';
}

/** Sorts by step and repeat, because repeats run in random order. */
const inOrder = (a: StudyStep, b: StudyStep) => a.step - b.step || a.repeat - b.repeat;

/** Steps whose runs were not needed, because the study was decided or its procedure ended. */
export const stepsNotNeeded = ({
  steps,
  until_decided,
  ended,
}: Pick<Study, 'steps' | 'until_decided' | 'ended'>): StudyStep[] =>
  steps.filter(
    ({ run }) =>
      (until_decided || ended) && run?.status === 'cancelled' && run.started_at_ms == null,
  );

/** Maximum number of queued runs in the table. A study can have hundreds. */
const MAX_QUEUED = 3;

/** The queued steps that the table omits: all but the first few if there are many. */
export function hiddenQueuedSteps({ steps }: Pick<Study, 'steps'>): StudyStep[] {
  const queued = steps.filter(({ run }) => run?.status === 'queued');
  return queued.length > 2 * MAX_QUEUED ? queued.slice(MAX_QUEUED) : [];
}

/** Example: `24 runs: Not started: decided after 8 pairs.` */
export function notNeededText(steps: StudyStep[]): string {
  const reason = steps[0]?.run?.reason;
  return reason ? `${plural(steps.length, 'run')}: ${reason}` : '';
}

function rowOf(
  { step, name, note, run, failed_run, sentence, iops_change_percent }: StudyStep,
  published: string[],
): StepRow {
  return {
    step,
    repeat: '',
    name,
    note: [note, retryText(failed_run)].filter(Boolean).join(' '),
    run: run?.number ?? null,
    status: statusText(run),
    iops: text(shortCount(run?.iops)),
    change: formatChange(iops_change_percent ?? null),
    bandwidth: text(rate(run?.bytes_per_second)),
    p99: text(latency(run?.lat_p99_ns)),
    badge: run?.verdict_class ? badgeOf(run.verdict_class) : null,
    sentence: sentence ?? '',
    published,
  };
}

/** Example: `Retry of #6, which failed: The disk is full.` */
function retryText(failed: StudyStep['failed_run']): string {
  if (!failed) return '';
  const end = failed.status === 'interrupted' ? 'was interrupted' : 'failed';
  return `Retry of #${failed.number}, which ${end}${failed.reason ? `: ${failed.reason}` : '.'}`;
}

function statusText(run: StudyStep['run']): string {
  if (!run) return 'Run deleted';
  if (run.status === 'done') return '';
  return [STATUS[run.status].label, run.reason].filter(Boolean).join(': ');
}

function publishedRow(published: string[]): StepRow {
  return {
    step: 0,
    repeat: '',
    name: published[0] ?? '',
    note: 'Published figure with no corresponding step.',
    run: null,
    status: '',
    iops: UNKNOWN,
    change: '',
    bandwidth: UNKNOWN,
    p99: UNKNOWN,
    badge: null,
    sentence: '',
    published,
  };
}

export const publishedHeaders = (published: Published | null | undefined): readonly string[] =>
  published?.columns ?? [];

/** Returns true if the page shows results for cells, rates or rounds instead of single runs. */
export const isSummarized = ({ steps, procedure }: Pick<Study, 'steps' | 'procedure'>): boolean =>
  procedure != null || steps.some(({ sweep }) => sweep.length > 0);

/** The first finished runs, up to the maximum number in a comparison. */
export const comparableRuns = ({ steps }: Pick<Study, 'steps'>): number[] =>
  steps.flatMap(({ run }) => (run?.status === 'done' ? [run.number] : [])).slice(0, MAX_RUNS);

/** Returns true if the steps' repeats can be compared as groups. */
export const hasGroups = ({ steps, repeats }: Pick<Study, 'steps' | 'repeats'>): boolean => {
  const count = countSteps({ steps });
  return repeats > 1 && count >= MIN_RUNS && count <= MAX_RUNS;
};

/** Number of steps, not counting repeats. */
export const countSteps = ({ steps }: Pick<Study, 'steps'>): number =>
  Math.max(0, ...steps.map(({ step }) => step));

export const runningStep = ({ steps }: Pick<Study, 'steps'>): StudyStep | null =>
  steps.find(({ run }) => run && STATUS[run.status].kind === 'running') ?? null;
