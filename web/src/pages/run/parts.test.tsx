import { readFileSync } from 'node:fs';
import { act, screen } from '@testing-library/react';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Event, Run } from '../../api';
import { Stage } from '../../charts/stage';
import type { Live } from '../../charts/use-live';
import { RunFold } from '../../model/fold';
import { serve, showPage } from '../../test-page';
import { FindingList } from './findings';
import { GaugeCard } from './gauge-card';
import { Phases } from './phases';
import { Say } from './say';
import { Tiles } from './tiles';

const EVENTS = readFileSync('src/model/fixtures/direct-randread.ndjson', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Event);
const RUN = {
  number: 1,
  status: 'queued',
  name: '',
  direct: true,
  mode: 'direct',
  device: 'vda',
  queue: { position: 2, reason: 'runs after #4 on vda' },
} as unknown as Run;

let live: Live;
const fold = (until: number) => {
  for (const event of EVENTS) if (event.seq <= until) live.fold.apply(event);
};
const show = async (Part: () => React.ReactNode) => {
  showPage(() => <Part />, '/part');
  await screen.findByText((_, element) => element?.tagName === 'BODY');
};

beforeEach(() => {
  vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => Number(frame(0) ?? 1));
  serve({});
  const folded = new RunFold();
  live = { fold: folded, stage: new Stage(), link: 'open', bucketed: false, clock: () => folded.now_ms };
});

it('says what a waiting run waits for', async () => {
  await show(() => <Say run={RUN} live={live} />);
  expect(await screen.findByText('Place 2 in the queue: runs after #4 on vda.')).toBeVisible();
});

it('draws events that arrive after it was shown', async () => {
  await show(() => (
    <>
      <Phases live={live} />
      <Tiles live={live} />
      <GaugeCard run={RUN} live={live} />
    </>
  ));
  expect(await screen.findByText('IOPS')).toBeVisible();
  act(() => {
    fold(18);
    live.stage.pause(false);
  });
  expect(screen.getByText(/mean so far/)).toBeVisible();
  expect(screen.getByText(/measure 0\.6 of/).closest('li')).toHaveAttribute('aria-current', 'step');
  expect(screen.getByRole('img', { name: /Depth gauge\. 28,980 I\/Os were issued/ })).toBeVisible();
});

it('gives the verdict of the report, and what to know about it', async () => {
  fold(99);
  await show(() => (
    <>
      <Say run={{ ...RUN, status: 'done' }} live={live} />
      <FindingList run={RUN} live={live} />
    </>
  ));
  expect(await screen.findByText(/43,864 IOPS came from vda/)).toBeVisible();
  expect(screen.getByText('device 100 %')).toBeVisible();
  expect(screen.getAllByText(/warning|note/).map((badge) => badge.textContent)).toEqual(['warning', 'note']);
});

it('says why a run ended early, and what would help', async () => {
  fold(15);
  const at = { t_ms: live.fold.now_ms };
  const refusals = [
    {
      code: 'eio',
      kind: 'environment' as const,
      field: null,
      sentence: 'Reading failed: EIO.',
      remedy: 'Look at the kernel log.',
    },
  ];
  live.fold.apply({ ...at, seq: 16, type: 'failed', exit_code: 1, refusals });
  live.fold.apply({ ...at, seq: 17, type: 'status', status: 'failed', at_ms: 0, reason: 'an I/O failed' });
  await show(() => <Say run={RUN} live={live} />);
  expect(await screen.findByRole('alert')).toHaveTextContent('failedReading failed: EIO.an I/O failedLook at the kernel log.');
});

it('says when the connection is lost while the run goes on', async () => {
  fold(18);
  live = { ...live, link: 'lost' };
  await show(() => <Say run={RUN} live={live} />);
  expect(await screen.findByRole('alert')).toHaveTextContent(/The run goes on/);
});
