// Findings whose remedy is a rerun with an option changed: one click each. The sentence and the remedy in words come with
// the finding; here is only which options it takes.
import type { RunSummary } from '../api';

/** A rerun that mends a finding: what its button says, and the options that change in every job. */
export interface Remedy {
  label: string;
  patch: Record<string, string | number>;
}

type Asked = Pick<RunSummary, 'direct' | 'numjobs'>;

const DIRECT: Remedy = { label: 'Rerun direct', patch: { direct: 1 } };
const AGAIN: Remedy = { label: 'Run again', patch: {} };
const twiceTheJobs = ({ numjobs }: Asked): Remedy => ({
  label: `Rerun with ${numjobs * 2} jobs`,
  patch: { numjobs: numjobs * 2 },
});

const REMEDIES: Record<string, (run: Asked) => Remedy> = {
  cache_answered: () => DIRECT,
  readahead_answered: () => DIRECT,
  deferred_write: () => ({ label: 'Rerun with end_fsync', patch: { end_fsync: 1 } }),
  direct_not_honoured: () => ({ label: 'Rerun after writing the file', patch: { overwrite: 1 } }),
  short_run: () => ({ label: 'Run 60 s', patch: { runtime: '60s', time_based: 1 } }),
  stopped_early: () => AGAIN,
  busy_host: () => AGAIN,
  other_io: () => AGAIN,
  depth_is_one: () => ({ label: 'Rerun with io_uring', patch: { ioengine: 'io_uring' } }),
  depth_not_reached: (run) => (run.direct ? twiceTheJobs(run) : DIRECT),
  cpu_bound: twiceTheJobs,
};

/** The rerun that mends a finding; null when no option does. */
export const remedyOf = (code: string, run: Asked): Remedy | null => REMEDIES[code]?.(run) ?? null;
