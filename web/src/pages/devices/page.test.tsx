import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { serve, showPage } from '../../test-page';
import { DevicesPage } from './page';

it('refreshes the host status together with its devices', async () => {
  let online = true;
  serve({
    'GET /api/v1/hosts': () => [
      { id: 'local', online, reason: online ? null : 'the runner is missing' },
    ],
    'GET /api/v1/hosts/local': {},
    'GET /api/v1/hosts/local/devices': { devices: [] },
  });
  showPage(DevicesPage, '/devices');
  const refresh = await screen.findByRole('button', { name: 'Refresh' });
  online = false;
  await userEvent.click(refresh);
  expect(await screen.findByText('the runner is missing')).toBeVisible();
});

it('does not show an empty table on a host without block devices', async () => {
  serve({
    'GET /api/v1/hosts': [{ id: 'local', online: true }],
    'GET /api/v1/hosts/local': {},
    'GET /api/v1/hosts/local/devices': { devices: [] },
  });
  showPage(DevicesPage, '/devices');
  expect(await screen.findByText(/^This host has no block devices/)).toBeVisible();
  expect(screen.queryByRole('table')).not.toBeInTheDocument();
});
