// The study that repeats two single runs.
import type { Job, Run, StudyDefinition, StudyPlan } from '../../api';
import { runTitle } from '../run/summary';

/** Number of pairs: enough for a verdict on all metrics of a run, unless there is too much noise. */
export const REPEATS = 10;

export const repeatStudy = (runs: readonly Run[]): StudyDefinition => ({
  name: runs.map(({ number }) => `#${number}`).join(' and '),
  repeats: REPEATS,
  steps: runs.map((run) => ({
    name: `#${run.number} ${runTitle(run)}`.slice(0, 100),
    jobs: run.requested.jobs.map((job) => withoutStudySeed(job, run)),
    sample_ms: run.requested.sample_ms,
  })),
});

/**
 * A repeated study inserts seeds into its jobs. With them, the pairs of the new study would have the
 * same two seeds in every block.
 */
function withoutStudySeed(job: Job, { repeat }: Run): Job {
  if (repeat == null) return job;
  const { randseed, ...others } = job;
  return others;
}

/** Planned duration of all runs; null if a duration is unknown. */
export function plannedDuration({ steps }: Pick<StudyPlan, 'steps'>): number | null {
  const seconds = steps.map(({ plan }) => plan.estimate.seconds ?? null);
  return seconds.reduce<number | null>(
    (sum, step) => (sum === null || step === null ? null : sum + step * 1000),
    0,
  );
}
