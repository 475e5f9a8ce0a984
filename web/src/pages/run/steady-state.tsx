// Shows whether each job has reached its steady state (`steadystate`).
import { type LiveRun, useTick } from '../../charts/use-live-run';
import { steadyStates } from '../../model/fold/steady-state';
import { Notice } from '../../ui/parts';

const BADGES = {
  attained: 'Steady',
  missed: 'Not steady',
  pending: 'Not steady yet',
} as const;

export function SteadyStates({ live: { fold, chartGroup } }: { live: LiveRun }) {
  useTick(chartGroup);
  return steadyStates(fold).map(({ job, state, sentence }) => (
    <Notice
      key={job}
      tone={state === 'missed' ? 'bad' : null}
      badge={BADGES[state]}
      title={sentence}
    />
  ));
}
