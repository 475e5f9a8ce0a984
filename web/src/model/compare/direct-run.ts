// Finds the direct counterpart of a run served from memory: the same job on the same target with
// direct I/O. Callers fetch the required lists and comparisons.
import type { ComparedRun, Comparison, RunSummary, Verdicts } from '../../api';
import { listVerdicts } from '../run/verdict';

/** Settings that may differ: names, I/O path, cache state, duration, preparation and cleanup. */
const MAY_DIFFER: ReadonlySet<string> = new Set([
  ...['name', 'sample_ms', 'probes', 'request_sizes'],
  ...['direct', 'mode', 'targets.alignment'],
  ...['cache_state', 'invalidate', 'pre_read', 'drop_caches', 'fadvise_hint'],
  ...['runtime_ms', 'time_based', 'ramp_ms', 'startdelay_ms', 'loops', 'io_size', 'number_ios'],
  'steady_state',
  ...['targets.existed', 'targets.layout_bytes', 'targets.layout_offset', 'end_fsync', 'unlink'],
]);

/** Maximum number of candidates to compare. The newest one almost always matches. */
const MAX_CANDIDATES = 3;

/**
 * Returns a filter for runs that the device served, with the same pattern on the same target. Null
 * if the run has no device, or if its target contains a quote.
 */
export function directRunFilter({ rw, device, target }: RunSummary): string | null {
  if (!device || target.includes('"')) return null;
  return `status:done verdict:device rw:${rw} device:${device} "${target}"`;
}

const shapeOf = ({ host, jobs, target, device, rw, bs, iodepth, numjobs }: RunSummary) =>
  JSON.stringify([host, jobs, target, device, rw, bs, iodepth, numjobs]);

/** Returns the numbers of direct runs whose summary matches, newest first. */
export function directRunCandidates(run: RunSummary, list: readonly RunSummary[]): number[] {
  const shape = shapeOf(run);
  return list
    .filter(({ number }) => number !== run.number)
    .filter((other) => other.direct && other.verdict_class === 'device' && shapeOf(other) === shape)
    .map(({ number }) => number)
    .sort((a, b) => b - a)
    .slice(0, MAX_CANDIDATES);
}

/** Returns the direct counterpart of a run, if it has finished and the device served it. */
export const directRun = (comparison: Comparison, number: number): ComparedRun | null =>
  counterparts(comparison, number).find(
    ({ run, verdict }) => run.status === 'done' && isServedByDevice(verdict),
  ) ?? null;

/**
 * Returns true if the comparison already contains a measured direct run, so that no rerun is
 * needed.
 */
export const hasDirectRun = (comparison: Comparison, number: number): boolean =>
  counterparts(comparison, number).some(({ duration_ms }) => typeof duration_ms === 'number');

function counterparts(comparison: Comparison, number: number): ComparedRun[] {
  const index = comparison.runs.findIndex(({ run }) => run.number === number);
  if (index < 0 || comparison.runs[index]?.run.direct) return [];
  return comparison.runs.filter(({ run }, i) => run.direct && isSameJob(comparison, index, i));
}

/** Compares two runs by index. */
function isSameJob({ setting_differences, runs }: Comparison, a: number, b: number): boolean {
  if (runs[a]?.run.host !== runs[b]?.run.host) return false;
  return setting_differences
    .filter(({ values }) => (values[a] ?? null) !== (values[b] ?? null))
    .every(({ name }) => MAY_DIFFER.has(name.replace(/^jobs\[\d+\]\./, '')));
}

function isServedByDevice(verdicts: Verdicts | null | undefined): boolean {
  const all = listVerdicts(verdicts);
  return all.length > 0 && all.every(({ verdict }) => verdict.class === 'device');
}
