// Whether a run that memory answered has a counterpart that says what the disk does: the same job, direct, on the same
// target. What differs between two runs, the server says in a comparison. Not here: asking for it.
import type { ComparedRun, Comparison, RunSummary, Verdicts } from '../../api';

/**
 * Settings that may differ between a job and the same job direct: what it is called, which way it goes, the state of a
 * cache that direct I/O does not use, how long it goes on, and what is found or done before and after.
 */
const MAY_DIFFER: ReadonlySet<string> = new Set([
  ...['name', 'sample_ms', 'probes', 'request_sizes'],
  ...['direct', 'mode', 'targets.alignment'],
  ...['cache_state', 'invalidate', 'pre_read', 'drop_caches', 'fadvise_hint'],
  ...['runtime_ms', 'time_based', 'ramp_ms', 'startdelay_ms', 'loops', 'io_size', 'number_ios'],
  ...['targets.existed', 'targets.layout_bytes', 'end_fsync', 'unlink'],
]);

/** So many of the newest that look alike are held against a run; the first is nearly always the one. */
const MOST_HELD = 3;

/** The filter of the history that finds runs which the disk answered with the same pattern on the same target; null where none can. */
export function directRunFilter({ rw, device, target }: RunSummary): string | null {
  if (!device || target.includes('"')) return null;
  return `status:done verdict:device rw:${rw} device:${device} "${target}"`;
}

/** Numbers of the runs in a list that may be the same job as a run, direct: as far as a list can tell, newest first. */
export function directRunCandidates(run: RunSummary, list: readonly RunSummary[]): number[] {
  const shape = ({ host, jobs, target, device, rw, bs, iodepth, numjobs }: RunSummary) =>
    JSON.stringify([host, jobs, target, device, rw, bs, iodepth, numjobs]);
  const found = list.filter(
    (other) => other.direct && other.verdict === 'device' && shape(other) === shape(run),
  );
  return found
    .map(({ number }) => number)
    .filter((number) => number !== run.number)
    .sort((a, b) => b - a)
    .slice(0, MOST_HELD);
}

/** The run of a comparison whose number is the disk's, of the same job as that with this number; null where none is. */
export function directRun(comparison: Comparison, number: number): ComparedRun | null {
  return (
    directOf(comparison, number).find(
      ({ run, verdict }) => run.status === 'done' && isDisks(verdict),
    ) ?? null
  );
}

/** Whether a comparison holds the same job as that with this number, done direct: another rerun would add nothing. */
export const hasDirectRun = (comparison: Comparison, number: number): boolean =>
  directOf(comparison, number).some(
    ({ duration_ms }) => duration_ms !== null && duration_ms !== undefined,
  );

function directOf(comparison: Comparison, number: number): ComparedRun[] {
  const place = comparison.runs.findIndex(({ run }) => run.number === number);
  if (place < 0 || comparison.runs[place]?.run.direct) return [];
  return comparison.runs.filter(
    ({ run }, other) => run.direct && isSameJob(comparison, place, other),
  );
}

/** Whether two runs of a comparison, by their places, did the same but for the way to the disk. */
function isSameJob({ setting_differences, runs }: Comparison, one: number, other: number): boolean {
  if (runs[one]?.run.host !== runs[other]?.run.host) return false;
  const differ = setting_differences.filter(
    ({ values }) => (values[one] ?? null) !== (values[other] ?? null),
  );
  return differ.every(({ name }) => MAY_DIFFER.has(name.replace(/^jobs\[\d+\]\./, '')));
}

function isDisks(verdicts: Verdicts | null | undefined): boolean {
  const all = [verdicts?.read, verdicts?.write].filter(
    (verdict) => verdict !== null && verdict !== undefined,
  );
  return all.length > 0 && all.every((verdict) => verdict.class === 'device');
}
