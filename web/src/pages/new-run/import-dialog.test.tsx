import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it } from 'vitest';
import type { Import, ImportRequest } from '../../api';
import { serve, showPage } from '../../test-page';
import { NewRunPage } from './page';

const EMPTY: Import = { dialect: 'fio_command', document: null, notes: [], questions: [] };
const JOB = { name: 'a', rw: 'read', direct: 1 };

/** A fake of the server's import endpoint. */
function fakeImport({ text, variables }: ImportRequest): Import {
  if (text.includes('10sec')) {
    const note = {
      line: 1,
      column: 24,
      length: 5,
      severity: 'error' as const,
      code: 'seconds_suffix',
      option: 'runtime',
      sentence: 'fio reads `10sec` as 10 µs.',
      remedy: 'Write 10s.',
      replacement: '10s',
    };
    return { ...EMPTY, notes: [note] };
  }
  if (text.includes('$DEV') && !variables?.DEV) {
    const question = {
      name: 'DEV',
      line: 1,
      column: 5,
      length: 4,
      sentence: 'The value of $DEV is not in the text.',
    };
    return { ...EMPTY, questions: [question] };
  }
  const job = variables?.DEV ? { ...JOB, filename: variables.DEV } : JOB;
  if (!text.includes('&&')) return { ...EMPTY, document: { jobs: [job] } };
  return { ...EMPTY, document: { steps: [{ jobs: [job] }, { jobs: [{ ...job, name: 'b' }] }] } };
}

beforeEach(() => {
  serve({
    'GET /api/v1/experiments': [],
    'GET /api/v1/studies': { studies: [], damaged: [], next_cursor: null, total: 0 },
    'GET /api/v1/options': [],
    'GET /api/v1/runs': { runs: [], next_cursor: null, total: 0 },
    'GET /api/v1/hosts/local/devices': { devices: [] },
    'POST /api/v1/import': (body: unknown) => fakeImport(body as ImportRequest),
  });
});

async function open(text: string) {
  const { router } = showPage(NewRunPage, '/new');
  await userEvent.click(await screen.findByRole('button', { name: 'Paste a command' }));
  const dialog = await screen.findByRole('dialog');
  const area = within(dialog).getByRole('textbox', { name: /fio job file/ });
  await userEvent.click(area);
  await userEvent.paste(text);
  return { router, dialog: within(dialog), area };
}

const jobFile = () => screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Job file' });
const use = () => screen.findByRole('button', { name: 'Use these jobs' });

it('shows the jobs before they replace the draft', async () => {
  await open('fio --name=a --rw=read --direct=1');
  expect(await screen.findByText(/rw=read/, { selector: 'pre' })).toBeVisible();
  await waitFor(async () => expect(await use()).toBeEnabled());
  await userEvent.click(await use());
  expect((await jobFile()).value).toBe('[a]\nrw=read\ndirect=1\n');
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument();
});

it('replaces a misleading value with the proposed one', async () => {
  const { dialog, area } = await open('fio --name=a --runtime=10sec');
  expect(await dialog.findByText(/fio reads `10sec` as 10 µs/)).toBeVisible();
  expect(await use()).toBeDisabled();
  await userEvent.click(dialog.getByRole('button', { name: 'Replace with 10s' }));
  expect(area).toHaveValue('fio --name=a --runtime=10s');
  await waitFor(async () => expect(await use()).toBeEnabled());
});

it('prompts for the value of a variable', async () => {
  const { dialog } = await open('fio --name=a --filename=$DEV');
  const field = await dialog.findByRole('textbox', { name: 'DEV' });
  expect(field).toHaveAccessibleDescription('The value of $DEV is not in the text.');
  await userEvent.type(field, 'disk');
  expect(await screen.findByText(/filename=disk/, { selector: 'pre' })).toBeVisible();
});

it('turns several commands into a study', async () => {
  const { router } = await open('fio --name=a && fio --name=b');
  const button = await screen.findByRole('button', { name: 'Create a study with 2 steps' });
  await waitFor(() => expect(button).toBeEnabled());
  await userEvent.click(button);
  await waitFor(() => expect(router.state.location.href).toBe('/new?study=1'));
  expect((await jobFile()).value).toBe('[a]\nrw=read\ndirect=1\n');
});

it('opens for a command that is pasted into the job file', async () => {
  showPage(NewRunPage, '/new');
  const area = await jobFile();
  const before = area.value;
  await userEvent.click(area);
  await userEvent.paste('fio --name=a --rw=read');
  const dialog = within(await screen.findByRole('dialog'));
  expect(dialog.getByRole('textbox', { name: /fio job file/ })).toHaveValue(
    'fio --name=a --rw=read',
  );
  expect(area.value).toBe(before);
});
