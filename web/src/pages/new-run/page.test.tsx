import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Confirmation, OptionDoc, Plan, Problem, RunRequest } from '../../api';
import { runQuery } from '../../api/queries';
import { ErrorResponse, serve, showPage } from '../../test-page';
import { NewRunPage } from './page';

const OPTIONS: OptionDoc[] = [
  {
    name: 'bs',
    aliases: [],
    group: 'pattern',
    kind: 'size',
    values: [],
    default: '4k',
    help: 'Bytes of one I/O.',
  },
  {
    name: 'fsync',
    aliases: [],
    group: 'durability',
    kind: 'count',
    values: [],
    default: '0',
    help: 'fsync after every N writes.',
  },
];
const UNALIGNED: Problem = {
  code: 'alignment',
  kind: 'invalid',
  field: 'jobs[0].bs',
  detail: 'bs=3000 is not a multiple of 512 B.',
  remedy: 'Use bs=3072.',
};

const UNCONFIRMED: Problem = {
  code: 'not_confirmed',
  kind: 'guard',
  field: 'confirm',
  detail: 'The run would overwrite /dev/sdx.',
  remedy: 'Confirm.',
};
const OVERWRITE: Confirmation = {
  path: '/dev/sdx',
  kind: 'device',
  identity: 'serial:S1',
  text: 'S1',
  contents: ['ext4 "photos"'],
  code: '1-a',
};

function plan({ jobs, sample_ms }: RunRequest): Plan {
  const isOverwriting = jobs?.[0]?.filename === '/dev/sdx';
  const problems = jobs?.[0]?.bs === '3000' ? [UNALIGNED] : isOverwriting ? [UNCONFIRMED] : [];
  const estimate = {
    seconds: 41,
    seconds_note: null,
    layout_bytes: 2 ** 30,
    measure_write_bytes: 0,
    buffer_bytes: 131_072,
  };
  return {
    jobs: [],
    sample_ms: sample_ms ?? 100,
    phases: [{ phase: 'measure', seconds: 30, write_bytes: null }],
    estimate,
    measures: 'Device speed.',
    findings: [],
    confirmations: isOverwriting ? [OVERWRITE] : [],
    problems,
  };
}

const NO_STUDIES = {
  'GET /api/v1/experiments': [],
  'GET /api/v1/studies': { studies: [], damaged: [], next_cursor: null, total: 0 },
};
let calls: ReturnType<typeof serve>;
beforeEach(() => {
  calls = serve({
    ...NO_STUDIES,
    'GET /api/v1/options': OPTIONS,
    'GET /api/v1/runs': { runs: [], next_cursor: null, total: 0 },
    'GET /api/v1/hosts/local/devices': { devices: [] },
    'POST /api/v1/plan': (body: unknown) => plan(body as RunRequest),
    'POST /api/v1/runs': { number: 12 },
  });
});

const text = () => screen.findByRole('textbox', { name: 'Job file' });
const started = () => calls.filter(({ call }) => call === 'POST /api/v1/runs');
const start = () => screen.getByRole('button', { name: 'Start' });

describe('the form and the job file', () => {
  it('stay in sync', async () => {
    showPage(NewRunPage, '/new');
    const area = await text();
    const depth = screen.getByRole('combobox', { name: /iodepth/ });
    await userEvent.clear(depth);
    await userEvent.type(depth, '64');
    expect((area as HTMLTextAreaElement).value).toContain('iodepth=64');
    await userEvent.type(area, 'numjobs=4');
    expect(screen.getByRole('combobox', { name: /numjobs/ })).toHaveValue('4');
  });

  it('stay in sync on the I/O path', async () => {
    showPage(NewRunPage, '/new');
    const area = await text();
    expect(screen.getByRole('radio', { name: /Direct file/ })).toBeChecked();
    await userEvent.click(screen.getByRole('radio', { name: /Buffered file/ }));
    expect((area as HTMLTextAreaElement).value).toContain('direct=0');
    await userEvent.click(screen.getByRole('radio', { name: /Raw device/ }));
    expect((area as HTMLTextAreaElement).value).toMatch(/filename=\/dev\/[\s\S]*direct=1/);
  });

  it('show all other server options', async () => {
    showPage(NewRunPage, '/new');
    const field = await screen.findByRole('textbox', { name: 'fsync', hidden: true });
    await userEvent.type(field, '8');
    expect(((await text()) as HTMLTextAreaElement).value).toContain('fsync=8');
  });

  it('complete and explain an option in the text', async () => {
    showPage(NewRunPage, '/new');
    const area = (await text()) as HTMLTextAreaElement;
    await screen.findByRole('textbox', { name: 'fsync', hidden: true });
    await userEvent.type(area, 'fs');
    const list = screen.getByRole('listbox', { name: 'Completions' });
    expect(within(list).getByRole('option', { selected: true })).toHaveTextContent('fsync');
    expect(area).toHaveAccessibleDescription(/fsync after every N writes/);
    await userEvent.keyboard('{Tab}8');
    expect(area.value).toMatch(/\nfsync=8$/);
    expect(area).not.toHaveAttribute('aria-controls');
    expect(area).toHaveAccessibleDescription(/fsync after every N writes/);
  });

  it('report that the options could not be loaded', async () => {
    calls = serve({
      ...NO_STUDIES,
      'GET /api/v1/options': new ErrorResponse(503, {
        title: 'Not ready',
        code: 'busy',
        detail: '',
      }),
    });
    showPage(NewRunPage, '/new');
    expect(await screen.findByText('Not ready')).toBeVisible();
  });
});

describe('a copy of an earlier run', () => {
  const FIVE = {
    number: 5,
    name: 'five',
    tags: ['old'],
    requested: { jobs: [{ name: 'five', rw: 'write', size: '1g' }], sample_ms: 50 },
  };
  const shown = async () => ((await text()) as HTMLTextAreaElement).value;
  const name = () => screen.getByRole('textbox', { name: 'Run name' });
  beforeEach(() => {
    calls = serve({
      ...NO_STUDIES,
      'GET /api/v1/runs/5': FIVE,
      'POST /api/v1/plan': (body: unknown) => plan(body as RunRequest),
    });
  });

  it('copies the run once, including name and tags, then keeps later edits', async () => {
    const { router } = showPage(NewRunPage, '/new', '/new?from=5');
    await waitFor(async () => expect(await shown()).toContain('[five]'));
    expect(screen.getByText('Based on #5')).toBeVisible();
    await waitFor(() => expect(router.state.location.href).toBe('/new'));
    await userEvent.type(await text(), 'iodepth=64');
    await userEvent.type(name(), ', deeper');
    cleanup();

    showPage(NewRunPage, '/new', router.state.location.href);
    await waitFor(async () => expect(await shown()).toContain('iodepth=64'));
    expect(name()).toHaveValue('five, deeper');
    expect(screen.getByText('old')).toBeVisible();
  });

  it('keeps the sampling interval until another preset is loaded', async () => {
    showPage(NewRunPage, '/new', '/new?from=5');
    expect(await screen.findByText('every 50 ms')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: /Presets/ }));
    await userEvent.click(await screen.findByRole('menuitem', { name: /One read at a time/ }));
    expect(await screen.findByText('every 100 ms')).toBeVisible();
  });

  it('keeps edits when the copied run changes', async () => {
    const { client } = showPage(NewRunPage, '/new', '/new?from=5');
    await waitFor(async () => expect(await shown()).toContain('[five]'));
    await userEvent.type(await text(), 'iodepth=64');
    await act(async () => {
      client.setQueryData<object>(runQuery(5).queryKey, { ...FIVE, tags: ['tagged later'] });
      // Observers are notified in the next task, so wait for it.
      await new Promise((resolve) => setTimeout(resolve));
    });
    expect(await shown()).toContain('iodepth=64');
    expect(screen.queryByText('tagged later')).not.toBeInTheDocument();
  });

  it('reports a missing run and links to the draft', async () => {
    showPage(NewRunPage, '/new', '/new?from=6');
    expect(await screen.findByRole('alert')).toHaveTextContent('Not found');
    expect(screen.getByRole('link', { name: 'Open the current draft' })).toHaveAttribute(
      'href',
      '/new',
    );
  });
});

describe('starting', () => {
  it('posts the jobs of the text and opens the run', async () => {
    const { router } = showPage(NewRunPage, '/new');
    await screen.findByText('Device speed.');
    await userEvent.click(start());
    await waitFor(() => expect(router.state.location.pathname).toBe('/runs/12'));
    expect(started()[0]?.body).toMatchObject({
      jobs: [{ name: 't1', rw: 'randread', bs: '4k', direct: '1' }],
    });
  });

  it('posts the text as typed, without a pause before the start', async () => {
    showPage(NewRunPage, '/new');
    await screen.findByText('Device speed.');
    await userEvent.type(await text(), 'bssplit=4k/100{Enter}; a comment{Enter}numjobs=37');
    await userEvent.click(start());
    expect(started()[0]?.body).toMatchObject({ jobs: [{ bssplit: '4k/100', numjobs: '37' }] });
  });

  it('shows problems next to the field, in the text and next to the button, and does not start', async () => {
    showPage(NewRunPage, '/new');
    const size = await screen.findByRole('combobox', { name: /Block size/ });
    await userEvent.clear(size);
    await userEvent.type(size, '3000');
    await waitFor(() => expect(start()).toHaveAttribute('aria-disabled', 'true'));
    expect(within(screen.getByRole('status')).getByText(/not a multiple of 512/)).toHaveTextContent(
      'line 4:',
    );
    expect(size).toHaveAccessibleDescription(/not a multiple of 512 B/);
    await userEvent.click(start());
    expect(started()).toEqual([]);
  });

  it('overwrites data only after its text is typed', async () => {
    showPage(NewRunPage, '/new');
    await userEvent.clear(await text());
    await userEvent.type(await text(), '[[raw]{Enter}filename=/dev/sdx{Enter}rw=write');
    const field = await screen.findByRole('textbox', { name: 'Type S1 to confirm' });
    expect(screen.getByText('ext4 "photos"')).toBeVisible();
    expect(screen.getByRole('status')).toHaveTextContent(/The data on \/dev\/sdx would be lost/);
    await userEvent.type(field, 'S2');
    expect(field).toHaveAccessibleDescription('Not S1');
    await userEvent.click(start());
    expect(started()).toEqual([]);
    await userEvent.clear(field);
    await userEvent.type(field, 'S1');
    await userEvent.click(start());
    await waitFor(() => expect(started()[0]?.body).toMatchObject({ confirm: ['S1@1-a'] }));
  });

  it('lists the first of many problems', async () => {
    showPage(NewRunPage, '/new');
    const area = await text();
    const lines = Array.from({ length: 2000 }, (_, line) => `${line}!`);
    fireEvent.change(area, { target: { value: lines.join('\n') } });
    const status = screen.getByRole('status');
    expect(within(status).getAllByRole('listitem')).toHaveLength(21);
    expect(status).toHaveTextContent(/line 20: .*1,981 more problems$/);
    expect(area).toHaveAttribute('aria-invalid', 'true');
  });

  it('shows the line of a syntax error', async () => {
    showPage(NewRunPage, '/new');
    await userEvent.type(await text(), '=nonsense');
    await waitFor(() =>
      expect(screen.getByRole('status')).toHaveTextContent(/line 10: .*neither option=value/),
    );
  });

  it('shows why the server rejected the start', async () => {
    calls = serve({
      ...NO_STUDIES,
      'GET /api/v1/options': OPTIONS,
      'POST /api/v1/plan': (body: unknown) => plan(body as RunRequest),
      'POST /api/v1/runs': new ErrorResponse(429, {
        title: 'The queue is full',
        code: 'queue_full',
        detail: '1,000 runs are waiting.',
      }),
    });
    showPage(NewRunPage, '/new');
    await screen.findByText('Device speed.');
    await userEvent.click(start());
    expect(await screen.findByRole('alert')).toHaveTextContent(
      'The queue is full1,000 runs are waiting.',
    );
  });
});
