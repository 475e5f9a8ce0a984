import { screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { Run } from '../../api';
import { serve, showPage } from '../../test-page';
import Queued from './queued';

const RUN = {
  number: 5,
  status: 'queued',
  queue: { position: 2, reason: 'waiting for #4 on vda', behind: 4 },
  requested: { jobs: [{ rw: 'randread' }], sample_ms: 100 },
} as unknown as Run;

const QueuedRun = () => <Queued run={RUN} />;

it('shows the position, the estimated start, and the plan', async () => {
  const started_at_ms = Date.now();
  serve({
    'GET /api/v1/runs/4': { number: 4, status: 'measuring', measure_ms: 90_000, started_at_ms },
    'POST /api/v1/plan': {
      phases: [{ phase: 'measure', seconds: 8 }],
      jobs: [],
      findings: [],
      estimate: { seconds: 8, layout_bytes: 0 },
      measures: 'Random reads from vda.',
    },
  });
  showPage(QueuedRun, '/part');
  expect(await screen.findByText('Position 2: waiting for #4 on vda.')).toBeVisible();
  expect(await screen.findByText(/^Estimated start: in about 1 min [23]\d s\.$/)).toBeVisible();
  expect(await screen.findByText('Random reads from vda.')).toBeVisible();
});

it('shows no estimate if the duration of a run ahead is unknown', async () => {
  serve({ 'GET /api/v1/runs/4': { number: 4, status: 'measuring', started_at_ms: 1 } });
  showPage(QueuedRun, '/part');
  expect(await screen.findByText('Position 2: waiting for #4 on vda.')).toBeVisible();
  expect(screen.queryByText(/Estimated start/)).toBeNull();
});
