import { Link } from '@tanstack/react-router';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { ErrorResponse, serve, showPage } from '../test-page';
import { NotFound } from './fallbacks';
import { restoreFocus } from './focus';
import { allKeys, useKeys } from './keys';
import { readSearch, writeSearch } from './search';
import { parseSecret, SignIn } from './sign-in';

describe('query string', () => {
  it.each([
    [{ runs: '1,2', baseline: '1' }, '?runs=1,2&baseline=1'],
    [{ q: 'rw:randread -tag:old', sort: undefined, order: '' }, '?q=rw:randread+-tag:old'],
    [{}, ''],
  ])('of %j is %s', (values, search) => {
    expect(writeSearch(values)).toBe(search);
    expect(readSearch(search)).toEqual(
      Object.fromEntries(Object.entries(values).filter(([, value]) => value)),
    );
  });
});

it.each([
  ['abc123', { token: 'abc123' }],
  [' abc123\n', { token: 'abc123' }],
  ['http://127.0.0.1:7070/login?ticket=abc123', { ticket: 'abc123' }],
])('reads %j as %j', (pasted, secret) => expect(parseSecret(pasted)).toEqual(secret));

it('signs in with a pasted token, and reports an invalid one', async () => {
  const detail = 'This is not the token of this server.';
  serve({ 'POST /login': new ErrorResponse(401, { detail }) });
  const signedIn = vi.fn();
  showPage(() => <SignIn onSignedIn={signedIn} />, '/runs/$n', '/runs/5');
  const enter = async () => {
    const input = await screen.findByRole('textbox');
    await userEvent.clear(input);
    await userEvent.type(input, 'abc123');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  };
  await enter();
  expect(await screen.findByText(detail)).toBeVisible();
  expect(signedIn).not.toHaveBeenCalled();
  const calls = serve({ 'POST /login': {} });
  await enter();
  await waitFor(() => expect(signedIn).toHaveBeenCalledTimes(1));
  expect(calls).toMatchObject([{ call: 'POST /login', body: { token: 'abc123' } }]);
});

it('moves focus to the new page when the clicked element is removed', async () => {
  const { router } = showPage(() => <Link to="/devices">go</Link>, '/');
  const stop = restoreFocus(router);
  const link = await screen.findByRole('link', { name: 'go' });
  expect(document.body).toHaveFocus();
  await userEvent.click(link);
  await waitFor(() => expect(screen.getByRole('main')).toHaveFocus());
  stop();
});

function Keyed({ help }: { help: () => void }) {
  useKeys(help);
  return (
    <>
      <input aria-label="filter" data-key="/" />
      <input type="checkbox" aria-label="select" />
      <button type="button" data-key="c" onClick={help}>
        compare
      </button>
    </>
  );
}

describe('keyboard shortcuts', () => {
  it('navigate with g followed by another key', async () => {
    const { router } = showPage(() => <Keyed help={vi.fn()} />, '/');
    await screen.findByLabelText('filter');
    await userEvent.keyboard('gd');
    expect(router.state.location.pathname).toBe('/devices');
  });

  it('focus fields and click buttons on the page, but not while typing', async () => {
    const help = vi.fn();
    const { router } = showPage(() => <Keyed help={help} />, '/');
    const field = await screen.findByLabelText('filter');
    await userEvent.keyboard('/');
    expect(field).toHaveFocus();
    await userEvent.keyboard('nc?');
    expect(field).toHaveValue('nc?');
    await userEvent.keyboard('{Escape}');
    expect(field).not.toHaveFocus();
    await userEvent.keyboard('c?');
    await userEvent.click(screen.getByLabelText('select'));
    await userEvent.keyboard('c');
    expect(help).toHaveBeenCalledTimes(3);
    expect(router.state.location.pathname).toBe('/');
  });
});

it('lists the shortcuts of the page instead of others with the same key', () => {
  render(
    <>
      <button type="button" data-key="x" data-action="Cancel the run" />
      <input data-key="/" />
    </>,
  );
  const keys = allKeys();
  expect(keys.filter(([key]) => key === 'x')).toEqual([['x', 'Cancel the run']]);
  expect(keys).toContainEqual(['/', 'Filter runs']);
  expect(keys).toContainEqual(['g e', 'Go to schedules']);
});

it('shows a page for unknown addresses', async () => {
  showPage(NotFound, '/');
  expect(await screen.findByRole('heading', { name: 'Page not found' })).toBeVisible();
  expect(document.title).toBe('Not found · Leadline');
});
