import { Link } from '@tanstack/react-router';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { Refuse, serve, showPage } from '../test-page';
import { NotFound } from './fallbacks';
import { keepFocus } from './focus';
import { useKeys } from './keys';
import { readSearch, writeSearch } from './search';
import { SignIn, tokenOf } from './sign-in';

describe('an address', () => {
  it.each([
    [{ runs: '1,2', baseline: '1' }, '?runs=1,2&baseline=1'],
    [{ q: 'rw:randread -tag:old', sort: undefined, order: '' }, '?q=rw:randread+-tag:old'],
    [{}, ''],
  ])('of %j is %s', (values, address) => {
    expect(writeSearch(values)).toBe(address);
    expect(readSearch(address)).toEqual(
      Object.fromEntries(Object.entries(values).filter(([, value]) => value)),
    );
  });
});

it.each([
  ['abc123', 'abc123'],
  [' abc123\n', 'abc123'],
  ['http://127.0.0.1:7070/login?token=abc123', 'abc123'],
])('the token in %j is %s', (pasted, token) => expect(tokenOf(pasted)).toBe(token));

it('takes a token where it stands, and says when it is not the server’s', async () => {
  const calls = serve({ 'GET /login': new Refuse(401, {}) });
  const signedIn = vi.fn();
  showPage(() => <SignIn onSignedIn={signedIn} />, '/runs/$n', '/runs/5');
  const enter = async () => {
    await userEvent.type(await screen.findByRole('textbox'), 'abc123');
    await userEvent.click(screen.getByRole('button', { name: 'Sign in' }));
  };
  await enter();
  expect(await screen.findByText('The server does not know this token.')).toBeVisible();
  expect(signedIn).not.toHaveBeenCalled();
  serve({ 'GET /login': {} });
  await enter();
  await waitFor(() => expect(signedIn).toHaveBeenCalledTimes(1));
  expect(calls.map(({ call }) => call)).toEqual(['GET /login?token=abc123']);
});

it('puts the focus on the page that came when what was pressed is gone', async () => {
  const { router } = showPage(() => <Link to="/devices">go</Link>, '/');
  const stop = keepFocus(router);
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

describe('keys', () => {
  it('lead to other pages, one by one or after g', async () => {
    const { router } = showPage(() => <Keyed help={vi.fn()} />, '/');
    await screen.findByLabelText('filter');
    await userEvent.keyboard('gd');
    expect(router.state.location.pathname).toBe('/devices');
  });

  it('do what the page says: focus a field, press a button, and nothing while somebody types', async () => {
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

it('says which address is not there', async () => {
  showPage(NotFound, '/');
  expect(await screen.findByRole('heading', { name: 'There is no such page' })).toBeVisible();
  expect(document.title).toBe('Not found · Leadline');
});
