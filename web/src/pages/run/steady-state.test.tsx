import { readFileSync } from 'node:fs';
import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { Event } from '../../api';
import { ChartGroup } from '../../charts/chart-group';
import type { LiveRun } from '../../charts/use-live-run';
import { RunFold } from '../../model/fold/run-fold';
import { serve, showPage } from '../../test-page';
import { SteadyStates } from './steady-state';

const EVENTS = readFileSync('src/model/fixtures/direct-randread.ndjson', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Event);

it('shows whether each job reached its steady state', async () => {
  serve({});
  const folded = new RunFold();
  for (const event of EVENTS) folded.apply(event);
  const live: LiveRun = {
    fold: folded,
    chartGroup: new ChartGroup(),
    connection: 'open',
    bucketed: false,
    clock: () => folded.now_ms,
  };
  const { result } = folded;
  const job = result?.report.jobs[0];
  if (!result || !job) throw new Error('the recorded run has a job');
  const steady_state = (attained: boolean, summary: string) => ({
    criterion: 'iops' as const,
    limit: 5,
    is_percent: true,
    attained,
    summary,
    iops: [],
    lat_ns: [],
    bytes_per_second: [],
  });
  result.report = {
    ...result.report,
    jobs: [
      { ...job, name: 'a', steady_state: steady_state(true, 'Steady state after 42 s.') },
      { ...job, name: 'b', steady_state: steady_state(false, 'Steady state not reached.') },
    ],
  };
  showPage(() => <SteadyStates live={live} />, '/part');
  expect(await screen.findByText('a: Steady state after 42 s.')).toBeVisible();
  expect(screen.getByText('Steady')).toBeVisible();
  expect(screen.getByText('b: Steady state not reached.')).toBeVisible();
  expect(screen.getByText('Not steady')).toBeVisible();
});
