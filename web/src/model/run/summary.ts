// A run in one line, the words of its status, and which runs are under way.
import type { Run, RunStatus, RunSummary } from '../../api';
import { isFinal } from '../fold/run-fold';

/** How a status is shown: a word, and whether it is trouble, under way or well. */
export const STATUS: Record<
  RunStatus,
  { label: string; kind: 'pending' | 'running' | 'success' | 'failure' }
> = {
  queued: { label: 'queued', kind: 'pending' },
  preparing: { label: 'preparing', kind: 'running' },
  measuring: { label: 'measuring', kind: 'running' },
  finishing: { label: 'finishing', kind: 'running' },
  done: { label: 'done', kind: 'success' },
  failed: { label: 'failed', kind: 'failure' },
  cancelled: { label: 'cancelled', kind: 'failure' },
  interrupted: { label: 'interrupted', kind: 'failure' },
};

const many = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`;

/** What a run does, in fio's words: randread · 4k · depth 32 · 1 job · direct=1 · /data/t1 on vda. */
export function describeRun(run: RunSummary): string {
  const where = run.device ? `${run.target} on ${run.device}` : run.target;
  return [
    run.rw,
    run.bs,
    `depth ${run.iodepth}`,
    many(run.numjobs, 'job'),
    `direct=${run.direct ? 1 : 0}`,
    where,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** What a run is called: its name, or what it does. */
export const runTitle = (run: Pick<RunSummary, 'name' | 'rw' | 'bs' | 'direct'>): string =>
  run.name || `${run.bs} ${run.rw}, ${run.direct ? 'direct' : 'buffered'}`;

/** Whether a run waits or runs. */
export const isActive = (run: Pick<RunSummary, 'status'>): boolean => !isFinal(run.status);

/** Which directions a run has, from what was resolved or asked. */
export function directionsOf(run: Pick<Run, 'resolved' | 'rw'>): {
  reads: boolean;
  writes: boolean;
  trims: boolean;
} {
  const patterns = run.resolved?.map((job) => String(job.rw)) ?? [run.rw.split(':')[0] ?? ''];
  const any = (words: readonly string[]) => patterns.some((pattern) => words.includes(pattern));
  return {
    reads: any(['read', 'randread', 'rw', 'readwrite', 'randrw']),
    writes: any(['write', 'randwrite', 'rw', 'readwrite', 'randrw']),
    trims: any(['trim', 'randtrim']),
  };
}
