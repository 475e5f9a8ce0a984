import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { StudySummary } from '../../api';
import { serve, showPage } from '../../test-page';
import { StudiesPage } from './page';

const STUDY: StudySummary = {
  number: 2,
  name: 'Queue depths',
  status: 'done',
  created_at_ms: 0,
  started_at_ms: 0,
  finished_at_ms: 1000,
  steps_total: 2,
  steps_ended: 2,
  runs: [3, 4],
  reason: null,
};
const DETAIL = 'The stored data of study #1 is damaged: its row does not match its checksum.';

it('lists intact studies and names damaged ones', async () => {
  const damaged = [{ number: 1, detail: DETAIL }];
  serve({
    'GET /api/v1/studies': { studies: [STUDY], damaged, next_cursor: null, total: 2 },
  });
  showPage(StudiesPage, '/studies');
  expect(await screen.findByRole('link', { name: '#2 Queue depths' })).toBeVisible();
  expect(screen.getByRole('alert')).toHaveTextContent(DETAIL);
  expect(screen.getByRole('link', { name: 'Study #1' })).toHaveAttribute('href', '/studies/1');
});

it('does not report an empty list if all studies are damaged', async () => {
  const damaged = [{ number: 1, detail: DETAIL }];
  serve({ 'GET /api/v1/studies': { studies: [], damaged, next_cursor: null, total: 1 } });
  showPage(StudiesPage, '/studies');
  expect(await screen.findByRole('alert')).toHaveTextContent(DETAIL);
  expect(screen.queryByText('No studies yet')).toBeNull();
});
