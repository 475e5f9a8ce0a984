// Finds the active run that a new run would have to wait for.
import type { Plan, RunSummary } from '../../api';
import { isActive } from '../run/summary';

/** Returns the last active run that uses one of the devices in the plan. */
export function blockingRun(plan: Plan, runs: readonly RunSummary[]): RunSummary | null {
  const devices = new Set(plan.jobs.flatMap((job) => job.targets.map(({ device }) => device)));
  const blocking = runs.filter((run) => isActive(run) && run.device && devices.has(run.device));
  return blocking.sort((a, b) => b.number - a.number)[0] ?? null;
}
