// Finds the run that a new run has to wait for.
import type { Plan, RunSummary } from '../../api';
import { isActive } from '../run/summary';

/** The last active run on a device that the plan uses. */
export function blockingRun(plan: Plan, runs: readonly RunSummary[]): RunSummary | null {
  const devices = new Set(plan.jobs.flatMap((job) => job.targets.map(({ device }) => device)));
  const blocking = runs.filter((run) => isActive(run) && run.device && devices.has(run.device));
  return blocking.sort((a, b) => b.number - a.number)[0] ?? null;
}
