// The study that repeats single runs.
import type { Job, Run, StudyDefinition, StudyPlan } from '../../api';
import { duration } from '../format/time';
import { runTitle } from '../run/summary';

/**
 * Number of repeats. Enough for a verdict on all of a run's metrics unless the noise is too high.
 */
export const REPEATS = 10;

/** Maximum number of pairs in a study with `until_decided`. */
const MAX_REPEATS = 30;

const LIST = new Intl.ListFormat('en-US');

export const repeatStudy = (runs: readonly Run[], untilDecided = false): StudyDefinition => ({
  name: LIST.format(runs.map(({ number }) => `#${number}`)),
  repeats: untilDecided ? MAX_REPEATS : REPEATS,
  ...(untilDecided && { until_decided: {} }),
  steps: runs.map((run) => ({
    name: `#${run.number} ${runTitle(run)}`.slice(0, 100),
    jobs: run.requested.jobs.map((job) => removeStudySeed(job, run)),
    sample_ms: run.requested.sample_ms,
  })),
});

/**
 * Removes the seed that a repeated study added to a job. Otherwise, all repeats of a run in the
 * new study would have the same seed.
 */
function removeStudySeed(job: Job, { repeat }: Run): Job {
  if (repeat == null) return job;
  const { randseed, ...others } = job;
  return others;
}

/** Planned duration of all runs; null if the duration of any run is unknown. */
export function plannedDuration({ steps }: Pick<StudyPlan, 'steps'>): number | null {
  const seconds = steps.map(({ plan }) => plan.estimate.seconds ?? null);
  return seconds.reduce<number | null>(
    (sum, step) => (sum === null || step === null ? null : sum + step * 1000),
    0,
  );
}

/** Duration of the study, and the number of pairs after which it can end early. */
export function costText({ steps, until_decided: until, idle_wait_seconds }: StudyPlan): string {
  const total_ms = plannedDuration({ steps });
  if (!until) return total_ms ? duration(Math.round(total_ms)) : '';
  const waits_ms = (idle_wait_seconds ?? 0) * steps.length * 1000;
  const time = total_ms ? duration(Math.round(total_ms + waits_ms)) : '';
  const first = until.looks[0]?.pairs ?? 0;
  const last = until.looks.at(-1)?.pairs ?? 0;
  return `${first} to ${last} pairs${time && `, at most ${time}`}`;
}
