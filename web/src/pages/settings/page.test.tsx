import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import type { Webhook } from '../../api';
import { serve, showPage } from '../../test-page';
import { SettingsPage } from './page';

const WEBHOOK: Webhook = {
  number: 1,
  name: 'Chat',
  origin: 'http://10.0.0.1:8080',
  events: ['trend_state_changed'],
  enabled: true,
  created_at_ms: 0,
  deliveries: [
    {
      id: 'msg_1',
      event: 'trend_state_changed',
      created_at_ms: 0,
      status: 'pending',
      attempts: 2,
      next_attempt_ms: 1000,
      last_result: 'HTTP 500 Internal Server Error',
    },
  ],
};

it('sets a threshold and keeps the others', async () => {
  const calls = serve({
    'GET /api/v1/settings': { thresholds: { cpu_ns_per_io: 7, read_iops: 3 } },
    'GET /api/v1/webhooks': { webhooks: [], damaged: [] },
    'PUT /api/v1/settings': { thresholds: {} },
  });
  showPage(SettingsPage, '/settings');
  const iops = await screen.findByRole('textbox', { name: 'Read IOPS' });
  expect(iops).toHaveValue('3 %');
  await userEvent.clear(iops);
  await userEvent.type(screen.getByRole('textbox', { name: 'Write IOPS' }), '5');
  await userEvent.click(screen.getByRole('button', { name: 'Save thresholds' }));
  await waitFor(() =>
    expect(calls).toContainEqual(
      expect.objectContaining({ body: { thresholds: { cpu_ns_per_io: 7, write_iops: 5 } } }),
    ),
  );
});

it('has one primary button', async () => {
  serve({
    'GET /api/v1/settings': { thresholds: {} },
    'GET /api/v1/webhooks': { webhooks: [WEBHOOK], damaged: [] },
  });
  showPage(SettingsPage, '/settings');
  const primary = () =>
    [...document.querySelectorAll('button[data-variant="filled"]')].map(
      (button) => button.textContent,
    );
  await screen.findByRole('button', { name: 'Save thresholds' });
  expect(primary()).toEqual(['Save thresholds']);
  await userEvent.click(await screen.findByRole('button', { name: 'Edit' }));
  expect(primary()).toEqual(['Save']);
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  await userEvent.click(screen.getByRole('button', { name: 'Add webhook' }));
  expect(primary()).toEqual(['Add webhook']);
});

it('shows messages, sends a test, and adds a webhook with a new secret', async () => {
  const calls = serve({
    'GET /api/v1/settings': { thresholds: {} },
    'GET /api/v1/webhooks': { webhooks: [WEBHOOK], damaged: [] },
    'POST /api/v1/webhooks/1/test': WEBHOOK,
    'POST /api/v1/webhooks': WEBHOOK,
  });
  showPage(SettingsPage, '/settings');
  expect(await screen.findByText(/HTTP 500 Internal Server Error, 2 attempts/)).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Send test' }));
  await userEvent.click(screen.getByRole('button', { name: 'Add webhook' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), 'Mail');
  await userEvent.type(screen.getByRole('textbox', { name: 'URL' }), 'http://10.0.0.2/hook');
  await userEvent.click(screen.getByRole('button', { name: 'Add webhook' }));
  await waitFor(() =>
    expect(calls).toContainEqual(
      expect.objectContaining({
        body: expect.objectContaining({
          url: 'http://10.0.0.2/hook',
          secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        }),
      }),
    ),
  );
  expect(calls.some(({ call }) => call === 'POST /api/v1/webhooks/1/test')).toBe(true);
});
