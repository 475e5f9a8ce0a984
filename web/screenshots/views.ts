// Every page and state to capture, and how to open it.
import type { Page } from '@playwright/test';
import type { Server } from '../e2e/server';
import type { Examples } from './examples';
import { measureRun, startRun } from './examples';

export interface View {
  name: string;
  /** Path of the page. It may contain an example's number. */
  path: string | ((numbers: Examples) => string);
  /** Opens a menu, a dialog or another page state. */
  open?: (page: Page) => Promise<unknown>;
  /** Captures only the viewport, for example for dialogs; by default, the full page. */
  isWindow?: boolean;
  /** Starts the live run or study that the page shows. Returns the page's path. */
  start?: (server: Server) => Promise<string>;
  /** Opens the page without signing in, or on a server that has no runs. */
  on?: 'signed out' | 'empty server';
  /** Kills the server before the screenshot. */
  isServerGone?: boolean;
}

const press = (key: string) => (page: Page) => page.keyboard.press(key);

const button = (name: string | RegExp) => (page: Page) =>
  page.getByRole('button', { name }).first().click();

const menuEntry = (menu: string | RegExp, entry: string | RegExp) => async (page: Page) => {
  await button(menu)(page);
  await page.getByRole('menuitem', { name: entry }).click();
};

const jobFile = (text: string) => (page: Page) =>
  page.getByRole('textbox', { name: 'Job file' }).fill(text);

async function select(page: Page) {
  for (const index of [0, 1])
    await page
      .getByRole('checkbox', { name: /^Select run/ })
      .nth(index)
      .check();
}

const run = (name: string) => (numbers: Examples) => `/runs/${numbers[name]}`;
const study = (name: string) => (numbers: Examples) => `/studies/${numbers[name]}`;
const compare = (...names: string[]) => {
  return (numbers: Examples) => `/compare?runs=${names.map((name) => numbers[name]).join()}`;
};

const EIGHT = Array.from({ length: 8 }, (_, index) => `eight${index}`);

const RUNS: readonly View[] = [
  { name: 'runs', path: '/runs' },
  { name: 'runs-empty', path: '/runs', on: 'empty server' },
  { name: 'runs-selected', path: '/runs', open: select },
  { name: 'runs-no-match', path: '/runs?q=zzz' },
  { name: 'runs-unknown-key', path: '/runs?q=zzz:1' },
  { name: 'runs-views', path: '/runs', open: button(/^Views/), isWindow: true },
  { name: 'runs-columns', path: '/runs', open: button(/^Columns/), isWindow: true },
  { name: 'runs-import', path: '/runs', open: button('Import fio result'), isWindow: true },
  { name: 'palette', path: '/runs', open: press('Control+k'), isWindow: true },
  { name: 'help', path: '/runs', open: press('?'), isWindow: true },
  { name: 'server-gone-list', path: '/runs', isServerGone: true },
];

const RUN: readonly View[] = [
  ...[
    'direct',
    'buffered',
    'long',
    'deferred',
    'mixed',
    'verified',
    'null',
    'cancelled',
    'interrupted',
    'failed',
    'damaged',
    'foreign',
  ].map((name) => ({ name: `run-${name}`, path: run(name) })),
  { name: 'run-missing', path: '/runs/99999' },
  { name: 'run-copy-menu', path: run('direct'), open: button(/^Copy/), isWindow: true },
  { name: 'run-export-menu', path: run('direct'), open: button(/^Export/), isWindow: true },
  {
    name: 'run-toast',
    path: run('direct'),
    open: menuEntry(/^Copy/, 'fio job file'),
    isWindow: true,
  },
  {
    name: 'run-delete',
    path: run('direct'),
    open: menuEntry('More actions', /^Delete run/),
    isWindow: true,
  },
  { name: 'run-annotate', path: run('direct'), open: button('Annotate'), isWindow: true },
  { name: 'run-counters', path: run('buffered'), open: button('Show counters') },
  { name: 'run-table', path: run('direct'), open: button('Show as table') },
  {
    name: 'run-live',
    path: '',
    start: async (server) => `/runs/${await measureRun(server, 'A live run', {})}`,
  },
  {
    name: 'run-queued',
    path: '',
    start: async (server) => {
      await measureRun(server, 'Ahead in the queue', {});
      return `/runs/${await startRun(server, 'Queued behind it', {})}`;
    },
  },
  {
    name: 'server-gone-run',
    path: '',
    start: async (server) => `/runs/${await measureRun(server, 'Its server is gone', {})}`,
    isServerGone: true,
  },
];

const NEW: readonly View[] = [
  { name: 'new', path: '/new' },
  { name: 'new-presets', path: '/new', open: button(/^Presets/), isWindow: true },
  {
    name: 'new-options',
    path: '/new',
    open: (page) =>
      page
        .locator('summary', { hasText: /option/i })
        .first()
        .click(),
  },
  { name: 'new-rejected', path: '/new', open: jobFile('[a]\nrw=randread\nblock_size=4k\n') },
  {
    name: 'new-raw',
    path: '/new',
    open: (page) => page.getByText('Raw device', { exact: true }).first().click(),
  },
  { name: 'new-import', path: '/new', open: button('Paste a command'), isWindow: true },
  {
    name: 'new-experiments',
    path: '/new',
    open: async (page) => {
      for (const card of await page.locator('.experiment summary').all()) await card.click();
    },
  },
  { name: 'new-study', path: '/new?study=1', open: button('Start over') },
  ...['decided', 'sweep', 'curve', 'snia'].map((name) => ({
    name: `new-study-${name}`,
    path: (numbers: Examples) => `/new?study=1&from=${numbers[name]}`,
  })),
];

const COMPARE: readonly View[] = [
  { name: 'compare-none', path: '/compare' },
  { name: 'compare-2', path: compare('direct', 'buffered') },
  { name: 'compare-2-long', path: compare('long', 'long2') },
  { name: 'compare-8', path: compare(...EIGHT) },
  {
    name: 'compare-groups',
    path: ({ compared }) => `/compare?a=study:${compared}/step:1&b=study:${compared}/step:2`,
  },
  {
    name: 'compare-missing',
    path: ({ direct, buffered }) => `/compare?runs=${direct},99999,${buffered}`,
  },
  { name: 'compare-interrupted', path: compare('direct', 'interrupted') },
];

const STUDIES: readonly View[] = [
  { name: 'studies', path: '/studies' },
  { name: 'studies-empty', path: '/studies', on: 'empty server' },
  ...[
    'repeats',
    'compared',
    'decided',
    'sweep',
    'curve',
    'snia',
    'sniaLatency',
    'damagedStudy',
  ].map((name) => ({ name: `study-${name}`, path: study(name) })),
  { name: 'study-missing', path: '/studies/99999' },
  {
    name: 'study-live',
    path: '',
    start: async (server) => {
      const steps = [1, 4].map((iodepth) => ({
        jobs: [{ name: 'null', ioengine: 'null', rw: 'randread', bs: '4k', size: '1g', iodepth }],
      }));
      const study = { name: 'A live study', repeats: 12, idle_wait_seconds: 0, steps };
      const { number } = await server.call<{ number: number }>('POST', '/studies', {
        ...study,
        steps: steps.map(({ jobs }) => ({
          jobs: jobs.map((job) => ({ ...job, runtime: '400ms', time_based: 1 })),
        })),
      });
      await new Promise((resolve) => setTimeout(resolve, 4000));
      return `/studies/${number}`;
    },
  },
];

const OTHERS: readonly View[] = [
  { name: 'trends', path: '/trends' },
  { name: 'trends-empty', path: '/trends', on: 'empty server' },
  {
    name: 'trend',
    path: '',
    start: async (server) => {
      const { series } = await server.call<{
        series: { runs: number; job_fingerprint: string; machine_fingerprint: string }[];
      }>('GET', '/trends');
      const [longest] = series.sort((a, b) => b.runs - a.runs);
      return `/trends/${longest?.job_fingerprint}/${longest?.machine_fingerprint}`;
    },
  },
  { name: 'schedules', path: '/schedules' },
  { name: 'schedules-empty', path: '/schedules', on: 'empty server' },
  { name: 'schedule-new', path: '/schedules', open: button('New schedule') },
  { name: 'devices', path: '/devices' },
  {
    name: 'devices-open',
    path: '/devices',
    open: async (page) => {
      const folded = page.getByRole('button', { name: /^Show \d+ unusable/ });
      if (await folded.isVisible()) await folded.click();
      await page.locator('.device-table button').first().click();
    },
  },
  { name: 'settings', path: '/settings' },
  { name: 'settings-webhook', path: '/settings', open: button('Add webhook') },
  { name: 'not-found', path: '/nowhere' },
  { name: 'sign-in', path: '/runs', on: 'signed out' },
  {
    name: 'sign-in-wrong',
    path: '/runs',
    on: 'signed out',
    open: async (page) => {
      await page.getByRole('textbox', { name: /token/ }).fill('wrong');
      await page.keyboard.press('Enter');
    },
  },
];

export const VIEWS: readonly View[] = [...RUNS, ...RUN, ...NEW, ...COMPARE, ...STUDIES, ...OTHERS];
