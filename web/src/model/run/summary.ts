// One-line descriptions of runs and labels of their status.
import type { Run, RunStatus, RunSummary } from '../../api';
import { isFinal } from '../fold/run-fold';

export interface StatusLabel {
  label: string;
  kind: 'pending' | 'running' | 'success' | 'failure';
}

export const STATUS: Record<RunStatus, StatusLabel> = {
  queued: { label: 'queued', kind: 'pending' },
  preparing: { label: 'preparing', kind: 'running' },
  measuring: { label: 'measuring', kind: 'running' },
  finishing: { label: 'finishing', kind: 'running' },
  done: { label: 'done', kind: 'success' },
  failed: { label: 'failed', kind: 'failure' },
  cancelled: { label: 'cancelled', kind: 'failure' },
  interrupted: { label: 'interrupted', kind: 'failure' },
};

/** randread · 4k · depth 32 · 1 job · direct=1 · /data/t1 on vda. */
export function describeRun(run: RunSummary): string {
  const { rw, bs, iodepth, numjobs, direct, target, device } = run;
  const jobs = numjobs === 1 ? '1 job' : `${numjobs} jobs`;
  const location = device ? `${target} on ${device}` : target;
  return [rw, bs, `depth ${iodepth}`, jobs, `direct=${direct ? 1 : 0}`, location]
    .filter(Boolean)
    .join(' · ');
}

/** The name, or a short description of a run without one. */
export const runTitle = (run: Pick<RunSummary, 'name' | 'rw' | 'bs' | 'direct'>): string =>
  run.name || `${run.bs} ${run.rw}, ${run.direct ? 'direct' : 'buffered'}`;

/** Returns true for queued and running runs. */
export const isActive = (run: Pick<RunSummary, 'status'>): boolean => !isFinal(run.status);

/** From the resolved jobs, or the requested pattern before they are resolved. */
export function directionsOf(run: Pick<Run, 'resolved' | 'rw'>) {
  const patterns = run.resolved?.map((job) => String(job.rw)) ?? [run.rw.split(':')[0] ?? ''];
  const uses = (...names: string[]) => patterns.some((pattern) => names.includes(pattern));
  const mixed = uses('rw', 'readwrite', 'randrw');
  return {
    reads: mixed || uses('read', 'randread'),
    writes: mixed || uses('write', 'randwrite'),
    trims: uses('trim', 'randtrim'),
  };
}
