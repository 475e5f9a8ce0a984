import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunSummary } from '../../api';
import { summaryOf } from '../../model/fixtures/summary';
import { ErrorResponse, serve, showPage } from '../../test-page';
import { RunsPage } from './page';

const run = (number: number, change: Partial<RunSummary> = {}) =>
  summaryOf(number, {
    created_at_ms: Date.now(),
    target: '/t/file',
    iops: 87_900,
    bytes_per_second: 360_000_000,
    verdict_class: 'page_cache',
    ...change,
  });
const respond = (runs: RunSummary[]) =>
  serve({
    'GET /api/v1/runs': { runs, next_cursor: null, total: runs.length },
    'POST /api/v1/runs': { number: 1 },
  });

beforeEach(() => {
  // jsdom has no layout, and a table without a height renders no rows.
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
});

it('shows a run with its verdict as text', async () => {
  respond([
    run(3),
    run(2, { status: 'failed', iops: null, verdict_class: null, reason: 'no io_uring' }),
  ]);
  showPage(RunsPage, '/runs');
  const row = (await screen.findByRole('link', { name: 'run 3' })).closest('tr');
  expect(row?.textContent?.replaceAll('\u00a0', ' ')).toMatch(
    /3run 3 ?DonePage cache.*randread4k8187\.9 k343 MiB\/s1\.21 ms/,
  );
  expect(screen.getByText('Failed').closest('td')).toHaveAttribute('title', 'no io_uring');
});

it('marks a damaged run instead of showing its verdict', async () => {
  const nothing = { iops: null, bytes_per_second: null, verdict_class: null };
  respond([run(3), run(2, { damaged: true, ...nothing })]);
  showPage(RunsPage, '/runs');
  const badge = await screen.findByText('Damaged');
  expect(badge).toHaveAttribute(
    'title',
    'The stored run or its result does not match its checksum.',
  );
  const row = badge.closest('tr');
  expect(row).toHaveTextContent('run 2');
  expect(row).not.toHaveTextContent('Page cache');
  expect(screen.getAllByText('Damaged')).toHaveLength(1);
});

it('offers to clear a filter that the server rejects', async () => {
  const detail = 'Unknown filter key `zzz`.';
  const problem = { title: 'Bad Request', code: 'invalid', detail, errors: [{ detail }] };
  serve({ 'GET /api/v1/runs': new ErrorResponse(422, problem) });
  const { router } = showPage(RunsPage, '/runs', '/runs?q=zzz:1');
  await userEvent.click(await screen.findByRole('button', { name: 'Clear filter' }));
  await waitFor(() => expect(router.state.location.searchStr).toBe(''));
});

it('filters and sorts on the server, and keeps both in the URL', async () => {
  const calls = respond([run(3)]);
  const { router } = showPage(RunsPage, '/runs');
  await userEvent.click(await screen.findByRole('button', { name: 'IOPS' }));
  await userEvent.type(screen.getByRole('searchbox', { name: 'Filter runs' }), 'rw:randread');
  await waitFor(() =>
    expect(router.state.location.searchStr).toBe('?sort=iops&order=desc&q=rw:randread'),
  );
  await waitFor(() =>
    expect(calls.at(-1)?.call).toMatch(/q=rw%3Arandread.*sort=iops.*order=desc|sort=iops.*q=rw/),
  );
  expect(await screen.findByRole('columnheader', { name: /IOPS/ })).toHaveAttribute(
    'aria-sort',
    'descending',
  );
});

it('keeps a space between words, and follows URL changes', async () => {
  respond([run(3)]);
  const { router } = showPage(RunsPage, '/runs');
  const field = await screen.findByRole('searchbox', { name: 'Filter runs' });
  await userEvent.type(field, 'my ');
  await waitFor(() => expect(router.state.location.searchStr).toBe('?q=my'));
  await userEvent.type(field, 'disk');
  await waitFor(() => expect(router.state.location.searchStr).toBe('?q=my+disk'));
  expect(field).toHaveValue('my disk');
  await router.navigate({ to: '/runs', search: {} as never });
  await waitFor(() => expect(field).toHaveValue(''));
});

it('compares two to eight selected runs', async () => {
  respond([run(3), run(2), run(1)]);
  showPage(RunsPage, '/runs');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select run 3' }));
  expect(screen.getByText('Select 2 to 8 runs to compare')).toBeVisible();
  await userEvent.click(screen.getByRole('checkbox', { name: 'Select run 1' }));
  expect(screen.getByRole('link', { name: 'Compare' })).toHaveAttribute(
    'href',
    '/compare?runs=1,3&baseline=1',
  );
});

it('keeps selected runs that are not loaded after the sort order changes', async () => {
  let listed = [run(3), run(2), run(1)];
  serve({ 'GET /api/v1/runs': () => ({ runs: listed, next_cursor: null, total: 3 }) });
  showPage(RunsPage, '/runs');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select run 3' }));
  await userEvent.click(screen.getByRole('checkbox', { name: 'Select run 1' }));
  listed = [run(2), run(1)];
  await userEvent.click(screen.getByRole('button', { name: 'IOPS' }));
  await waitFor(() =>
    expect(screen.queryByRole('link', { name: 'run 3' })).not.toBeInTheDocument(),
  );
  expect(screen.getByText('2 selected')).toBeVisible();
  expect(screen.getByRole('link', { name: 'Compare' })).toHaveAttribute(
    'href',
    '/compare?runs=1,3&baseline=1',
  );
  await userEvent.click(screen.getByRole('button', { name: 'Tag…' }));
  expect(await screen.findByRole('dialog', { name: 'Tag 2 runs' })).toBeVisible();
});

it('clears the selection when the filter changes', async () => {
  respond([run(3), run(2)]);
  showPage(RunsPage, '/runs');
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Select run 3' }));
  expect(screen.getByText('1 selected')).toBeVisible();
  await userEvent.type(screen.getByRole('searchbox', { name: 'Filter runs' }), 'host:other');
  await waitFor(() => expect(screen.queryByText('1 selected')).not.toBeInTheDocument());
  expect(screen.getByRole('checkbox', { name: 'Select run 3' })).not.toBeChecked();
});

describe('shift-click', () => {
  const box = (number: number) => screen.findByRole('checkbox', { name: `Select run ${number}` });
  const shiftClick = async (number: number) => {
    const user = userEvent.setup();
    await user.keyboard('{Shift>}');
    await user.click(await box(number));
    await user.keyboard('{/Shift}');
  };

  it.each([
    ['from the last selected run, even if it moved', [4, 3, 2, 1], [2, 1]],
    ['only the clicked run if the last selected one is no longer listed', [4, 3, 1], [1]],
  ])('selects %s', async (_, listed, chosen) => {
    let runs = [3, 2, 1];
    serve({
      'GET /api/v1/runs': () => ({
        runs: runs.map((n) => run(n)),
        next_cursor: null,
        total: runs.length,
      }),
    });
    const { client } = showPage(RunsPage, '/runs');
    await userEvent.click(await box(2));
    runs = listed;
    await act(() => client.invalidateQueries());
    await box(4);
    await shiftClick(1);
    const checked = screen.getAllByRole<HTMLInputElement>('checkbox').filter((one) => one.checked);
    expect(checked.map((one) => one.ariaLabel ?? one.getAttribute('aria-label'))).toEqual(
      chosen.map((n) => `Select run ${n}`),
    );
  });
});

it('offers the demo when there are no runs, and starts it', async () => {
  const calls = respond([]);
  const { router } = showPage(RunsPage, '/runs');
  await userEvent.click(await screen.findByRole('button', { name: 'Run the 10-second demo' }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/runs/1'));
  expect(calls.find(({ call }) => call.startsWith('POST'))?.body).toMatchObject({
    name: '10-second demo',
    jobs: [{ rw: 'randread', bs: '4k', iodepth: 8, direct: 1, size: '256m', runtime: '10s' }],
  });
});

it('explains the filter when nothing matches', async () => {
  respond([]);
  showPage(RunsPage, '/runs', '/runs?q=nothing');
  expect(await screen.findByText('No matching runs')).toBeVisible();
});
