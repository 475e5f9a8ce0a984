// One-line descriptions of runs, and labels for their status and directions.
import type { Run, RunStatus, RunSummary } from '../../api';
import { isFinal } from '../fold/run-fold';
import { latency, plural, rate, shortCount, text } from '../format/numbers';

export interface StatusLabel {
  label: string;
  kind: 'pending' | 'running' | 'success' | 'failure';
}

export const STATUS: Record<RunStatus, StatusLabel> = {
  queued: { label: 'Queued', kind: 'pending' },
  preparing: { label: 'Preparing', kind: 'running' },
  measuring: { label: 'Measuring', kind: 'running' },
  finishing: { label: 'Finishing', kind: 'running' },
  done: { label: 'Done', kind: 'success' },
  failed: { label: 'Failed', kind: 'failure' },
  cancelled: { label: 'Cancelled', kind: 'failure' },
  interrupted: { label: 'Interrupted', kind: 'failure' },
};

export const DIRECTION_LABELS = { read: 'Reads', write: 'Writes', trim: 'Trims' } as const;

/** Example: randread · 4k · depth 32 · 1 job · direct=1 · /data/t1 on vda. */
export function describeRun(run: RunSummary): string {
  const { rw, bs, iodepth, numjobs, direct, target, device } = run;
  const jobs = plural(numjobs, 'job');
  const location = device ? `${target} on ${device}` : target;
  return [rw, bs, `depth ${iodepth}`, jobs, `direct=${direct ? 1 : 0}`, location]
    .filter(Boolean)
    .join(' · ');
}

type RunWithSource = Pick<RunSummary, 'source'>;

/** Returns true if the run was imported. */
export const isImported = ({ source }: RunWithSource): boolean => source !== 'leadline';

const SOURCES = {
  leadline: { label: 'Leadline', hint: '' },
  fio: { label: 'fio', hint: 'Measured by fio: Leadline did not observe this run' },
  leadline_export: {
    label: 'Leadline export',
    hint: "Measured by Leadline and imported in fio's format, which has no verdict",
  },
} as const;

/** The program that measured an imported run. */
export const sourceLabel = ({ source }: RunWithSource): string => SOURCES[source].label;

export const sourceHint = ({ source }: RunWithSource): string => SOURCES[source].hint;

type TitledRun = Pick<RunSummary, 'name' | 'rw' | 'bs' | 'direct'>;

/** A run's name, or a short description if it has none. */
export const runTitle = (run: TitledRun): string =>
  run.name || `${run.bs} ${run.rw}, ${run.direct ? 'direct' : 'buffered'}`;

/** Runs of a study are named `study: step (repeat)`. */
const STUDY_TITLE = /^(.+?)(: .+?)( \(\d+\))?$/;

/** Parts of a study run's title; null for other runs. */
export function studyTitle(run: TitledRun & Pick<RunSummary, 'study'>) {
  const [, study, step, repeat = ''] = (run.study && STUDY_TITLE.exec(runTitle(run))) || [];
  return study && step ? { study, step, repeat } : null;
}

/** A test's title, which is the same for all repeats. */
export function testTitle(run: TitledRun & Pick<RunSummary, 'study'>): string {
  const parts = studyTitle(run);
  return parts ? parts.study + parts.step : runTitle(run);
}

/** Returns true for queued and running runs. */
export const isActive = (run: Pick<RunSummary, 'status'>): boolean => !isFinal(run.status);

/** Returns true if the metrics cover only part of the run, because it did not complete. */
export const isPartial = ({ status, iops }: Pick<RunSummary, 'status' | 'iops'>): boolean =>
  isFinal(status) && status !== 'done' && typeof iops === 'number';

/** Example: `Partial: 12.3 k IOPS · 48.0 MiB/s · p99 1.20 ms`. Null for complete runs. */
export function partialText(run: RunSummary): string | null {
  if (!isPartial(run)) return null;
  const figures = [
    `${text(shortCount(run.iops))} IOPS`,
    text(rate(run.bytes_per_second)),
    `p99 ${text(latency(run.lat_p99_ns))}`,
  ];
  return `Partial: ${figures.join(' · ')}`;
}

/** Taken from the resolved jobs, or from the requested pattern if they are not resolved yet. */
export function getDirections(run: Pick<Run, 'resolved' | 'rw'>) {
  const patterns = run.resolved?.map((job) => String(job.rw)) ?? [run.rw.split(':')[0] ?? ''];
  const uses = (...names: string[]) => patterns.some((pattern) => names.includes(pattern));
  const mixed = uses('rw', 'readwrite', 'randrw');
  const trimsAndWrites = uses('trimwrite', 'randtrimwrite');
  return {
    reads: mixed || uses('read', 'randread'),
    writes: mixed || trimsAndWrites || uses('write', 'randwrite'),
    trims: trimsAndWrites || uses('trim', 'randtrim'),
  };
}
