import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import type { Schedule } from '../../api';
import { serve, showPage } from '../../test-page';
import { SchedulesPage } from './page';

const SCHEDULE: Schedule = {
  number: 1,
  name: 'Nightly',
  cron: '30 2 * * *',
  time_zone: 'UTC',
  document: { jobs: [{ rw: 'read' }] },
  tags: ['night'],
  quiet_hours: [],
  enabled: true,
  created_at_ms: 0,
  next_start_ms: 86_400_000,
  next: [{ at_ms: 86_400_000, local: 'Fri 1970-01-02 00:00 +00:00', is_quiet: false }],
  missed: 3,
  starts: [
    {
      due_at_ms: 2000,
      count: 3,
      result: 'missed',
      reason: 'The server was not running.',
      is_catch_up: false,
      run: null,
      study: null,
      status: null,
    },
    {
      due_at_ms: 1000,
      count: 1,
      result: 'started',
      reason: null,
      is_catch_up: false,
      run: 7,
      study: null,
      status: 'failed',
    },
  ],
};

it('shows missed and failed starts, and disables a schedule', async () => {
  const calls = serve({
    'GET /api/v1/schedules': { schedules: [SCHEDULE], damaged: [] },
    'PUT /api/v1/schedules/1': SCHEDULE,
  });
  showPage(SchedulesPage, '/schedules');
  expect(await screen.findByText('Missed (3 times)')).toBeVisible();
  expect(screen.getByText('30 2 * * *')).toBeVisible();
  expect(screen.getByText('Run (read)')).toBeVisible();
  expect(screen.getByText(/Tags: night/)).toBeVisible();
  expect(screen.getByText('Fri 1970-01-02 00:00 +00:00')).toBeVisible();
  expect(screen.getByText(/3 starts missed in the last 30 days/)).toBeVisible();
  expect(screen.getByText('Failed')).toBeVisible();
  expect(screen.getByRole('link', { name: 'Run #7' })).toBeVisible();
  await userEvent.click(screen.getByRole('button', { name: 'Disable' }));
  await waitFor(() =>
    expect(calls).toContainEqual(
      expect.objectContaining({
        call: 'PUT /api/v1/schedules/1',
        body: expect.objectContaining({ enabled: false, document: SCHEDULE.document }),
      }),
    ),
  );
});

it('shows the next start in one time zone', async () => {
  const quiet = [{ at_ms: 60_000, local: 'Thu 1970-01-01 01:01 +01:00', is_quiet: true }];
  serve({
    'GET /api/v1/schedules': {
      schedules: [SCHEDULE, { ...SCHEDULE, number: 2, next: quiet }],
      damaged: [],
    },
  });
  showPage(SchedulesPage, '/schedules');
  expect(await screen.findByText('Fri 1970-01-02 00:00 +00:00')).toBeVisible();
  expect(screen.getAllByText(/Next start after the quiet hours: .*your time zone/)).toHaveLength(1);
});

it('previews the next due times and creates a schedule', async () => {
  const calls = serve({
    'GET /api/v1/schedules': { schedules: [], damaged: [] },
    'GET /api/v1/runs/7': { name: 'a', requested: { jobs: [{ rw: 'read' }], sample_ms: 100 } },
    'POST /api/v1/schedules/plan': {
      next: [
        { at_ms: 1, local: 'Thu 2026-11-26 02:30 +01:00', is_quiet: false },
        { at_ms: 2, local: 'Fri 2026-11-27 02:30 +01:00', is_quiet: true },
      ],
    },
    'POST /api/v1/schedules': SCHEDULE,
  });
  showPage(SchedulesPage, '/schedules');
  await userEvent.click(await screen.findByRole('button', { name: 'New schedule' }));
  const create = screen.getByRole('button', { name: 'Create schedule' });
  expect(create).toBeDisabled();
  await userEvent.type(screen.getByRole('textbox', { name: 'Run number' }), '7');
  await userEvent.click(screen.getByRole('button', { name: 'Copy jobs of run' }));
  expect(await screen.findByText('Thu 2026-11-26 02:30 +01:00')).toBeVisible();
  expect(screen.getByText(/quiet hours, skipped/)).toBeVisible();
  await userEvent.click(create);
  await waitFor(() =>
    expect(calls).toContainEqual(
      expect.objectContaining({
        call: 'POST /api/v1/schedules',
        body: expect.objectContaining({
          cron: '30 2 * * *',
          document: { name: 'a', jobs: [{ rw: 'read' }], sample_ms: 100 },
        }),
      }),
    ),
  );
});
