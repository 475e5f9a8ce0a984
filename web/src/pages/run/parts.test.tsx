import { readFileSync } from 'node:fs';
import { useQuery } from '@tanstack/react-query';
import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Event, Run } from '../../api';
import { runQuery } from '../../api/queries';
import { ChartGroup } from '../../charts/chart-group';
import type { LiveRun } from '../../charts/use-live-run';
import { RunFold } from '../../model/fold/run-fold';
import { ErrorResponse, serve, showPage } from '../../test-page';
import Details from './details';
import { FindingList } from './findings';
import { GaugeCard } from './gauge-card';
import { Latency } from './latency';
import { LiveRegion } from './live-region';
import { Phases } from './phases';
import { RunNotices } from './run-notices';
import { Tiles } from './tiles';
import { Verified } from './verified';

const EVENTS = readFileSync('src/model/fixtures/direct-randread.ndjson', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Event);
const RUN = {
  source: 'leadline',
  rw: 'randread',
  number: 1,
  status: 'queued',
  name: '',
  direct: true,
  mode: 'direct',
  device: 'vda',
  requested: { jobs: [{ rw: 'randread', direct: 1 }] },
} as unknown as Run;

let live: LiveRun;
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
  live = {
    fold: folded,
    chartGroup: new ChartGroup(),
    connection: 'open',
    bucketed: false,
    clock: () => folded.now_ms,
  };
});

it('renders events that arrive later', async () => {
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
    live.chartGroup.pause(false);
  });
  expect(screen.getByText(/^mean \d/)).toBeVisible();
  expect(screen.getByText(/Measure 0\.6 of/).closest('li')).toHaveAttribute('aria-current', 'step');
  expect(screen.getByRole('img', { name: /Depth gauge\. 28,980 I\/Os issued/ })).toBeVisible();
});

describe('a hang', () => {
  const hang = (silent_ms: number) =>
    act(() => {
      const sample = EVENTS.find((event) => event.type === 'sample');
      if (sample?.type !== 'sample') throw new Error('the recorded run has samples');
      const t_ms = live.fold.now_ms + 100;
      live.fold.apply({ ...sample, seq: live.fold.lastSeq + 1, t_ms, silent_ms });
      live.chartGroup.pause(false);
    });

  it('has a notice until an I/O completes', async () => {
    fold(18);
    await show(() => <GaugeCard run={RUN} live={live} />);
    const notice = await screen.findByRole('status');
    expect(notice).toBeEmptyDOMElement();
    hang(1900);
    expect(notice).toBeEmptyDOMElement();
    hang(5200);
    expect(screen.getByText('No I/O has completed for 5.2 s')).toBeVisible();
    // The status is announced once, not with every sample.
    const announced = notice.querySelector('.hidden')?.textContent;
    hang(5300);
    expect(notice.querySelector('.hidden')?.textContent).toBe(announced);
    hang(0);
    expect(notice).toBeEmptyDOMElement();
  });

  it('has no notice after the run ends', async () => {
    fold(18);
    hang(5200);
    act(() => {
      const seq = live.fold.lastSeq + 1;
      live.fold.apply({ seq, t_ms: 9e9, type: 'status', status: 'failed', at_ms: 0 });
    });
    await show(() => <GaugeCard run={RUN} live={live} />);
    await screen.findByText('Depth gauge');
    expect(screen.queryByRole('status')).toBeNull();
  });
});

it.each([
  ['starting', true],
  ['waiting for #4 on vda', false],
] as const)('space for the verdict of a queued run (%s): %s', async (reason, isReserved) => {
  const queue = { position: 1, reason, behind: null };
  await show(() => <RunNotices run={{ ...RUN, queue } as Run} live={live} />);
  expect(screen.queryByText('Provisional') !== null).toBe(isReserved);
});

it.each([
  ['runtime', false],
  ['signal', true],
  ['violated_limit', true],
] as const)('a report that ended by %s: partial is %s', async (ended_by, isPartial) => {
  fold(99);
  const { result } = live.fold;
  if (!result) throw new Error('the recorded run has a report');
  live.fold.result = { ...result, report: { ...result.report, ended_by } };
  live.fold.status = 'failed';
  live.fold.reason = 'Job a completed no I/O for 8.80 s of 10.0 s.';
  await show(() => <RunNotices run={RUN} live={live} />);
  const notice = await screen.findByRole('alert');
  expect(notice).toHaveTextContent('Job a completed no I/O for 8.80 s of 10.0 s.');
  expect(notice.textContent?.includes('up to that point')).toBe(isPartial);
});

it('marks lower bounds in the latency table', async () => {
  fold(99);
  const { result } = live.fold;
  if (!result) throw new Error('the recorded run has a report');
  const { read } = result.report;
  const lat_ns = { ...read.lat_ns, max: 9.5e9, at_least: ['max'] };
  const unfinished = { ios: 32, oldest_ns: 9.5e9 };
  const report = { ...result.report, read: { ...read, lat_ns, unfinished } };
  live.fold.result = { ...result, report };
  await show(() => <Latency live={live} />);
  const max = await screen.findByTitle('Lower bound: I/Os were still in flight at the end');
  expect(max).toHaveTextContent('≥ 9.50 s');
  expect(screen.getByText(/^32 I\/Os were in flight at the end/)).toBeVisible();
});

it('shows the verdict and the findings of the report', async () => {
  fold(99);
  await show(() => (
    <>
      <RunNotices run={{ ...RUN, status: 'done' }} live={live} />
      <FindingList run={RUN} live={live} />
    </>
  ));
  expect(await screen.findByText(/43,864 IOPS came from vda/)).toBeVisible();
  expect(screen.getByText('Device 100 %')).toBeVisible();
  expect(screen.getAllByText(/Warning|Note/).map((badge) => badge.textContent)).toEqual([
    'Warning',
    'Note',
  ]);
});

describe('a run served from memory', () => {
  const warm = {
    ...RUN,
    number: 9,
    status: 'done',
    mode: 'buffered',
    direct: false,
    host: 'local',
    source: 'leadline' as const,
    jobs: 1,
    target: '/t',
  } as Run;
  const direct = { ...warm, number: 12, direct: true, verdict_class: 'device', iops: 21_756.4 };
  const side = (run: object, name: string) => ({
    run,
    duration_ms: 1000,
    verdict: { read: { class: name }, write: null },
  });
  const comparison = (name: string) => ({
    runs: [side(warm, 'page_cache'), side(direct, name)],
    setting_differences: [{ name: 'direct', values: ['false', 'true'] }],
  });
  const showNotices = async (responses: Parameters<typeof serve>[0]) => {
    const calls = serve(responses);
    fold(99);
    const { result } = live.fold;
    if (!result?.verdict?.read) throw new Error('the recorded run has a verdict');
    const [finding] = result.findings;
    if (!finding) throw new Error('the recorded run has findings');
    const verdict = {
      ...result.verdict,
      read: { ...result.verdict.read, class: 'page_cache' as const },
    };
    const fixable = {
      ...finding,
      severity: 'serious' as const,
      patch: { direct: 1 },
      patch_label: 'Rerun direct',
    };
    live.fold.result = { ...result, verdict, findings: [fixable] };
    await show(() => <RunNotices run={warm} live={live} />);
    return calls;
  };

  it('shows the result of the same job with direct I/O', async () => {
    const calls = await showNotices({
      'GET /api/v1/runs': { runs: [direct] },
      'GET /api/v1/compare': comparison('device'),
    });
    expect(await screen.findByText(/^Same job with direct/)).toHaveTextContent(
      'Same job with direct I/O: 21,756 IOPS (run #12)',
    );
    expect(screen.getByRole('link', { name: 'run #12' })).toHaveAttribute('href', '/runs/12');
    const compare = screen.getByRole('link', { name: 'Compare with direct I/O' });
    expect(compare).toHaveAttribute('href', '/compare?runs=12,9&baseline=12');
    expect(screen.queryByRole('button', { name: 'Rerun direct' })).toBeNull();
    expect(calls.map(({ call }) => decodeURIComponent(call)).at(-1)).toBe(
      'GET /api/v1/compare?runs=9,12',
    );
  });

  it.each([
    ['no run has the same settings', { 'GET /api/v1/runs': { runs: [{ ...direct, bs: '8k' }] } }],
    [
      'another layer served the direct run',
      { 'GET /api/v1/runs': { runs: [direct] }, 'GET /api/v1/compare': comparison('foreign') },
    ],
    ['the history cannot be read', {}],
  ])('offers the rerun if %s', async (_, responses) => {
    await showNotices(responses);
    expect(await screen.findByRole('button', { name: 'Rerun direct' })).toBeVisible();
    expect(screen.queryByText(/Same job with direct/)).toBeNull();
  });
});

it('shows why a run failed, and the remedy', async () => {
  fold(15);
  const at = { t_ms: live.fold.now_ms };
  const problems = [
    {
      code: 'eio',
      kind: 'environment' as const,
      field: null,
      detail: 'Reading failed: EIO.',
      remedy: 'Check the kernel log.',
    },
  ];
  live.fold.apply({ ...at, seq: 16, type: 'failed', exit_code: 1, problems });
  live.fold.apply({
    ...at,
    seq: 17,
    type: 'status',
    status: 'failed',
    at_ms: 0,
    reason: 'an I/O failed',
  });
  await show(() => <RunNotices run={RUN} live={live} />);
  expect(await screen.findByRole('alert')).toHaveTextContent(
    'FailedReading failed: EIO.an I/O failedCheck the kernel log.',
  );
});

function Stored() {
  const { data } = useQuery(runQuery(1));
  return data && <Details run={data} live={live} />;
}

describe('tags and notes', () => {
  const stored = { ...RUN, created_at_ms: 0, tags: ['old'], notes: 'as stored' };
  const DISK_FULL = { title: 'The server cannot write', code: 'disk_full', detail: '' };
  const notes = () => screen.findByRole('textbox', { name: 'Notes' });
  // The fields are loaded after the results.
  beforeEach(() => fold(18));

  it('keep their input and show an error when saving fails', async () => {
    serve({
      'GET /api/v1/runs/1': stored,
      'PATCH /api/v1/runs/1': new ErrorResponse(507, DISK_FULL),
    });
    const { client } = showPage(Stored, '/part');
    await userEvent.type(await notes(), ', and more');
    await userEvent.type(screen.getByRole('combobox', { name: 'Tags' }), 'new{Enter}');
    expect(await screen.findAllByText(/^Not saved/)).toHaveLength(2);
    await act(() => client.invalidateQueries());
    expect(await notes()).toHaveValue('as stored, and more');
    expect(screen.getByText('new')).toBeVisible();
  });

  it('update the cached run after saving', async () => {
    const calls = serve({ 'GET /api/v1/runs/1': stored, 'PATCH /api/v1/runs/1': stored });
    const { client } = showPage(Stored, '/part');
    await userEvent.type(await notes(), ', and more');
    await userEvent.tab();
    await waitFor(() =>
      expect(client.getQueryData(runQuery(1).queryKey)).toMatchObject({
        notes: 'as stored, and more',
        tags: ['old'],
      }),
    );
    expect(calls.at(-1)).toEqual({
      call: 'PATCH /api/v1/runs/1',
      body: { notes: 'as stored, and more' },
    });
    expect(screen.queryByText(/^Not saved/)).not.toBeInTheDocument();
  });

  it('do not overwrite a change from another tab', async () => {
    const seen = { ...stored, etag: 'abc' };
    serve({
      'GET /api/v1/runs/1': seen,
      'PATCH /api/v1/runs/1': new ErrorResponse(412, { code: 'changed_meanwhile', detail: '' }),
    });
    const calls = vi.spyOn(globalThis, 'fetch');
    showPage(Stored, '/part');
    await userEvent.type(await notes(), ', and more');
    await userEvent.tab();
    expect(await screen.findByText(/^Not saved/)).toBeVisible();
    const requests = calls.mock.calls.map(([request]) => request as Request);
    const patch = requests.find(({ method }) => method === 'PATCH');
    expect(patch?.headers.get('if-match')).toBe('"abc"');
  });
});

it('announces each status once, then the verdict', async () => {
  fold(15);
  await show(() => <LiveRegion run={RUN} live={live} />);
  const status = await screen.findByRole('status');
  expect(status.textContent).toBe('Run #1: Measuring.');
  act(() => {
    fold(99);
    live.chartGroup.pause(false);
  });
  expect(status.textContent).toMatch(/^Run #1: Done\. 43,864 IOPS came from vda/);
});

it('reports a lost connection of an active run', async () => {
  fold(18);
  live = { ...live, connection: 'lost' };
  await show(() => <RunNotices run={RUN} live={live} />);
  expect(await screen.findByRole('alert')).toHaveTextContent(/Reconnecting/);
});

it('lists bad blocks', async () => {
  for (const event of EVENTS) {
    const copy = structuredClone(event);
    const job = copy.type === 'report' ? copy.report.jobs[0] : null;
    if (job)
      job.verify = {
        checked_blocks: 4096,
        checked_bytes: 16 << 20,
        cached_bytes: null,
        skipped_blocks: 0,
        duration_ms: 20,
        bad_blocks: 102,
        failures: [
          {
            path: '/data/file',
            offset: 98_304,
            bytes: 4096,
            kind: 'torn',
            detail: '3 of 8 sectors do not contain the data of the same write.',
            found_offset: null,
            bad_offset: 98_816,
            errno: null,
          },
        ],
        not_run: null,
      };
    live.fold.apply(copy);
  }
  await show(() => <Verified live={live} />);
  expect(screen.getByText('Verified blocks')).toBeVisible();
  expect(screen.getByRole('row', { name: /98,304 torn 3 of 8 sectors/ })).toBeVisible();
  expect(screen.getByText('101 more bad blocks are not listed.')).toBeVisible();
});
