import { act, screen, waitFor } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import type { Study } from '../../api';
import { TestSocket } from '../../api/test-socket';
import { serve, showPage } from '../../test-page';
import { StepGauges } from './gauges';

const RUN = {
  number: 7,
  status: 'failed',
  samples: 0,
  last_seq: 2,
  started_at_ms: 1,
  finished_at_ms: 2,
  findings: [],
};
const STUDY = { steps: [{ step: 1, repeat: 1, name: 'first', run: RUN }] } as unknown as Study;
const NO_IO = 'The run ended before issuing any I/O.';

it('reports missing I/O only after all stored events were read', async () => {
  TestSocket.install();
  vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => Number(frame(0) ?? 1));
  serve({ 'GET /api/v1/runs/7': RUN });
  showPage(() => <StepGauges study={STUDY} />, '/part');
  expect(await screen.findByRole('img', { name: /^Depth gauge/ })).toBeVisible();
  expect(screen.queryByText(NO_IO)).not.toBeInTheDocument();
  await waitFor(() => expect(TestSocket.opened).toHaveLength(1));
  act(() => {
    TestSocket.last.accept();
    ['queued', 'preparing', 'failed'].forEach((status, seq) => {
      TestSocket.last.receive({ seq, t_ms: 0, type: 'status', status, at_ms: 1 });
    });
  });
  expect(await screen.findByText(NO_IO)).toBeVisible();
});
