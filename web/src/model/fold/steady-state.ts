// A run's steady states (`steadystate`): from its samples while it is live, then from its report.
import type { SteadyState } from '../../api';
import { duration } from '../format/time';
import type { Band } from './missing-time';
import type { RunFold } from './run-fold';
import { originMs } from './series-view';

/** One job's steady state. */
export interface SteadyStateView {
  job: string;
  state: 'attained' | 'missed' | 'pending';
  /** The runner's summary. If the run has multiple jobs, it starts with the job's name. */
  sentence: string;
  /** The last complete window, in ms since the start of the run. */
  window: { start_ms: number; end_ms: number } | null;
  criterion: SteadyState['criterion'];
}

/** One entry per job with `steadystate_duration`. */
export function steadyStates(fold: RunFold): SteadyStateView[] {
  const jobs = fold.result?.report.jobs;
  const views = jobs
    ? jobs.flatMap(({ name, steady_state }): SteadyStateView[] => {
        if (!steady_state) return [];
        const { attained, summary, window = null, criterion } = steady_state;
        const state = attained ? 'attained' : 'missed';
        return [{ job: name, state, sentence: summary, window, criterion }];
      })
    : liveStates(fold);
  const count = (jobs ?? fold.accepted?.jobs ?? []).length;
  return views.map((view) =>
    count > 1 ? { ...view, sentence: `${view.job}: ${view.sentence}` } : view,
  );
}

/** A job gets an entry after its first second. */
function liveStates({ accepted, steadyStates }: RunFold): SteadyStateView[] {
  return [...steadyStates].flatMap(([index, { value, attained, summary, t_ms }]) => {
    const job = accepted?.jobs[index];
    if (!job?.steady_state) return [];
    const { duration_s, criterion } = job.steady_state;
    const isComplete = typeof value === 'number';
    return [
      {
        job: job.name,
        state: attained ? 'attained' : 'pending',
        sentence: summary,
        window: isComplete ? { start_ms: t_ms - duration_s * 1000, end_ms: t_ms } : null,
        criterion,
      },
    ];
  });
}

/** Each job's window, in the chart of the metric that the job's criterion uses. */
export function steadyBands(fold: RunFold): Band[] {
  const origin_ms = originMs(fold);
  return steadyStates(fold).flatMap(({ state, window, criterion }): Band[] => {
    // No chart shows the mean latency.
    if (!window || criterion.startsWith('lat')) return [];
    const { start_ms, end_ms } = window;
    const label = state === 'attained' ? 'Steady state' : 'Last window';
    return [
      {
        kind: 'window',
        label: `${label} ${duration(end_ms - start_ms)}`,
        short: label,
        from: (start_ms - origin_ms) / 1000,
        to: (end_ms - origin_ms) / 1000,
        panel: criterion.startsWith('bw') ? 'bandwidth' : 'iops',
      },
    ];
  });
}
