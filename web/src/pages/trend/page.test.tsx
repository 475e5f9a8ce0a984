import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import type { Trend, TrendPoint } from '../../api';
import { summaryOf } from '../../model/fixtures/summary';
import { serve, showPage } from '../../test-page';
import { TrendPage } from './page';

const DAY_MS = 86_400_000;
const point = (run: number, median: number | null): TrendPoint => ({
  started_at_ms: run * DAY_MS,
  runs: median === null ? [] : [run],
  excluded: median === null ? [{ run, kind: 'incomplete', reason: 'failed' }] : [],
  statistics: { n: median === null ? 0 : 1, median, outliers: [] },
  at_least: false,
  host_changes: [],
});
const trend = (values: Partial<Trend>): Trend => ({
  job_fingerprint: 'j',
  machine_fingerprint: 'm',
  hostname: 'db1',
  runs: 3,
  newest_run: summaryOf(3),
  baseline: null,
  state: null,
  metric: 'read_iops',
  unit: '1/s',
  better: 'higher',
  metrics: ['read_iops', 'read_lat_p99_ns'],
  threshold_percent: 2,
  baseline_statistics: null,
  points: [point(1, 100), point(2, 101), point(3, null)],
  changes: [],
  common_findings: [],
  excluded: [{ kind: 'incomplete', reason: 'failed', runs: 1 }],
  older_runs: 0,
  ...values,
});
const PATH = '/trends/$job/$machine';
const URL = '/trends/j/m';

it('pins the newest group that has runs', async () => {
  const calls = serve({
    'GET /api/v1/trends/j/m': trend({}),
    'PUT /api/v1/trends/j/m/baseline': {},
  });
  showPage(TrendPage, PATH, URL);
  await userEvent.click(await screen.findByRole('button', { name: 'Pin the newest group' }));
  await waitFor(() =>
    expect(calls).toContainEqual(expect.objectContaining({ body: { runs: [2] } })),
  );
  expect(screen.getByText(/Excluded: 1 failed/)).toBeVisible();
});

it('shows that the baseline was deleted', async () => {
  const reason = 'All runs in the baseline have been deleted. Pin another group.';
  serve({
    'GET /api/v1/trends/j/m': trend({
      baseline: { runs: [], deleted_runs: [9], threshold_percent: 2, pinned_at_ms: 0 },
      state: { state: 'not_comparable', reason, runs: [], metrics: [] },
    }),
  });
  showPage(TrendPage, PATH, URL);
  expect(await screen.findByText('All runs in the baseline have been deleted.')).toBeVisible();
  expect(screen.getByText('Not comparable')).toBeVisible();
  expect(screen.queryByRole('link', { name: 'Compare with baseline' })).not.toBeInTheDocument();
});

it('selects groups by keyboard and compares around a change', async () => {
  const change = {
    point: 1,
    percent: -9.5,
    is_better: false,
    p_value: 0,
    mean_before: 100,
    mean_after: 90.5,
    runs_before: [1],
    runs_after: [2],
  };
  serve({ 'GET /api/v1/trends/j/m': trend({ changes: [change] }) });
  const { router } = showPage(TrendPage, PATH, URL);
  const chart = await screen.findByRole('slider');
  expect(chart).toHaveAttribute('aria-valuenow', '3');
  chart.focus();
  await userEvent.keyboard('{ArrowLeft}');
  await waitFor(() => expect(chart).toHaveAttribute('aria-valuenow', '2'));
  await userEvent.keyboard('{Home}');
  await waitFor(() => expect(router.state.location.searchStr).toBe('?run=1'));
  expect(screen.getByRole('link', { name: 'Compare' })).toHaveAttribute('href', '/compare?a=1&b=2');
});

it('shows a series without groups', async () => {
  serve({ 'GET /api/v1/trends/j/m': trend({ points: [], excluded: [], runs: 0 }) });
  showPage(TrendPage, PATH, URL);
  expect(await screen.findByText('No groups yet')).toBeVisible();
});
