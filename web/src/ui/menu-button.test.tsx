import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { showPage } from '../test-page';
import { MenuButton } from './menu-button';

it('opens a menu, calls the chosen action, and restores focus', async () => {
  const choose = vi.fn();
  const toggle = vi.fn();
  showPage(
    () => (
      <MenuButton
        target={<button type="button">Options</button>}
        entries={[
          { type: 'action', label: 'Run', onSelect: () => choose('run') },
          { type: 'page', label: 'Devices', link: { to: '/devices' } },
          { type: 'file', label: 'CSV', href: '/x.csv', download: 'x.csv' },
          { type: 'file', label: 'JSON', href: '/x' },
          { type: 'checkbox', label: 'Host', checked: true, onChange: toggle },
          {
            type: 'radio',
            value: 'a',
            options: [
              { name: 'a', label: 'A' },
              { name: 'b', label: 'B' },
            ],
            onChange: choose,
          },
          { type: 'divider' },
        ]}
      />
    ),
    '/',
  );
  const button = () => screen.findByRole('button', { name: 'Options' });
  expect(await button()).toHaveAttribute('aria-haspopup', 'menu');
  await userEvent.click(await button());
  expect(await screen.findByRole('menuitem', { name: 'Devices' })).toHaveAttribute(
    'href',
    '/devices',
  );
  expect(screen.getByRole('menuitem', { name: 'CSV' })).toHaveAttribute('download', 'x.csv');
  expect(screen.getByRole('menuitem', { name: 'JSON' })).toHaveAttribute('target', '_blank');
  await userEvent.click(screen.getByRole('menuitemcheckbox', { name: 'Host', checked: true }));
  expect(toggle).toHaveBeenCalledTimes(1);
  await userEvent.click(screen.getByRole('menuitemradio', { name: 'B', checked: false }));
  expect(choose).toHaveBeenCalledWith('b');
  await userEvent.click(await button());
  await userEvent.click(await screen.findByRole('menuitem', { name: 'Run' }));
  expect(choose).toHaveBeenCalledWith('run');
  await userEvent.click(await button());
  await screen.findByRole('menu');
  await userEvent.keyboard('{Escape}');
  const target = await button();
  await waitFor(() => expect(target).toHaveFocus());
});
