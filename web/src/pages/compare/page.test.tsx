import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import type { RunSummary } from '../../api';
import { summaryOf as run } from '../../model/fixtures/summary';
import { ErrorResponse, serve, showPage } from '../../test-page';
import { ComparePage } from './page';

const list = (...runs: RunSummary[]) => ({ runs, next_cursor: null, total: runs.length });

it('removes a number without a run', async () => {
  serve({
    'GET /api/v1/compare': new ErrorResponse(404, {
      title: 'Not found',
      code: 'not_found',
      detail: 'There is no run #99.',
    }),
    'GET /api/v1/runs': list(run(1)),
  });
  const { router } = showPage(ComparePage, '/compare', '/compare?runs=1,2,99&baseline=1');
  expect(await screen.findByText('There is no run #99.')).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Remove #99' }));
  await waitFor(() => expect(router.state.location.searchStr).toBe('?runs=1,2&baseline=1'));
});

it('keeps the selection when the filter changes', async () => {
  let listed = list(run(5), run(4));
  const calls = serve({ 'GET /api/v1/runs': () => listed });
  const { router } = showPage(ComparePage, '/compare');
  await userEvent.click(await screen.findByRole('checkbox', { name: '#5 run 5' }));
  listed = list(run(2));
  await userEvent.type(screen.getByRole('searchbox', { name: 'Filter runs' }), 'old');
  await userEvent.click(await screen.findByRole('checkbox', { name: '#2 run 2' }));
  expect(calls.at(-1)?.call).toContain('q=old');
  expect(screen.getByRole('button', { name: 'Remove #5' })).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Compare 2' }));
  await waitFor(() => expect(router.state.location.searchStr).toBe('?runs=2,5&baseline=2'));
});

it('loads more pages', async () => {
  const pages = [{ ...list(run(102)), next_cursor: 'older' }, list(run(1))];
  serve({ 'GET /api/v1/runs': () => pages.shift() });
  showPage(ComparePage, '/compare');
  expect(await screen.findByRole('checkbox', { name: '#102 run 102' })).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Load more' }));
  expect(await screen.findByRole('checkbox', { name: '#1 run 1' })).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Load more' })).not.toBeInTheDocument();
});
