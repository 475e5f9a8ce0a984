import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { serve, showPage } from '../../test-page';
import { DevicesPage } from './page';

it('looks again at how the host stands, not at its devices alone', async () => {
  let online = true;
  serve({
    'GET /api/v1/hosts': () => [
      { id: 'local', online, reason: online ? null : 'the runner is gone' },
    ],
    'GET /api/v1/hosts/local': {},
    'GET /api/v1/hosts/local/devices': { devices: [] },
  });
  showPage(DevicesPage, '/devices');
  const again = await screen.findByRole('button', { name: 'Look again' });
  online = false;
  await userEvent.click(again);
  expect(await screen.findByText('the runner is gone')).toBeVisible();
});
