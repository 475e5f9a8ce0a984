// Checks page states that need an action or a live run for accessibility violations: menus,
// dialogs, errors, expanded cards, live and cancelled runs.
import type { Page } from '@playwright/test';
import { checkLayouts } from './axe';
import { expect, type Server, shortRun, test } from './server';

interface State {
  name: string;
  /**
   * Selector for the elements that the state adds to its page. The page itself is checked in
   * `pages.spec`.
   */
  part: string;
  /** Opens the state on a page that shows run `number`. */
  open: (page: Page, server: Server, number: number) => Promise<unknown>;
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first();

async function openRun(page: Page, server: Server, number: number) {
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page.getByText('Resolved settings')).toBeVisible();
}

async function openMenu(page: Page, name: string | RegExp) {
  await button(page, name).click();
  await expect(page.getByRole('menu')).toBeVisible();
}

const STATES: readonly State[] = [
  {
    name: 'copy menu',
    part: '[role="menu"]',
    open: async (page, server, number) => {
      await openRun(page, server, number);
      await openMenu(page, /^Copy/);
    },
  },
  { name: 'export menu', part: '[role="menu"]', open: (page) => openMenu(page, /^Export/) },
  {
    name: 'delete dialog',
    part: '[role="dialog"]',
    open: async (page) => {
      await openMenu(page, 'More actions');
      await page.getByRole('menuitem', { name: /^Delete run/ }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
    },
  },
  {
    name: 'toast',
    part: '.mantine-Notification-root',
    open: async (page) => {
      await openMenu(page, /^Copy/);
      await page.getByRole('menuitem', { name: 'fio job file' }).click();
      await expect(page.locator('.mantine-Notification-root')).toBeVisible();
    },
  },
  {
    name: 'annotation dialog',
    part: '[role="dialog"]',
    open: async (page, server, number) => {
      const body = { t_ms: 100, text: 'an annotation' };
      await server.call('POST', `/runs/${number}/annotations`, body);
      await expect(page.getByText('an annotation')).toBeVisible();
      await button(page, 'Annotate').click();
      await expect(page.getByRole('dialog')).toBeVisible();
    },
  },
  { name: 'hidden line', part: '.chart', open: (page) => button(page, 'Max').click() },
  { name: 'counters', part: '.notice', open: (page) => button(page, 'Show counters').click() },
  {
    name: 'samples as a table',
    part: '.series-table',
    open: (page) => button(page, 'Show as table').click(),
  },
  {
    name: 'verdict menu',
    part: '[role="menu"]',
    open: async (page, server) => {
      await page.goto(`${server.url}/runs`);
      await openMenu(page, /^Verdict/);
    },
  },
  { name: 'column menu', part: '[role="menu"]', open: (page) => openMenu(page, /^Columns/) },
  { name: 'view menu', part: '[role="menu"]', open: (page) => openMenu(page, /^Views/) },
  {
    name: 'view dialog',
    part: '[role="dialog"]',
    open: async (page) => {
      await openMenu(page, /^Views/);
      await page.getByRole('menuitem', { name: 'Save view…' }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
    },
  },
  {
    name: 'tag dialog',
    part: '[role="dialog"]',
    open: async (page, _, number) => {
      await page.getByRole('checkbox', { name: `Select run ${number}` }).check();
      await button(page, 'Tag…').click();
    },
  },
  {
    name: 'filter with no matches',
    part: 'main',
    open: (page, server) => page.goto(`${server.url}/runs?q=zzz`),
  },
  {
    name: 'unknown filter key',
    part: 'main',
    open: (page, server) => page.goto(`${server.url}/runs?q=zzz:1`),
  },
  {
    name: 'expanded experiments',
    part: '.experiment',
    open: async (page, server) => {
      await page.goto(`${server.url}/new`);
      await expect(page.locator('.experiment summary').first()).toBeVisible();
      for (const summary of await page.locator('.experiment summary').all()) await summary.click();
      await expect(page.getByText('Published', { exact: false }).last()).toBeVisible();
    },
  },
  { name: 'presets menu', part: '[role="menu"]', open: (page) => openMenu(page, /^Presets/) },
  {
    name: 'rejected job',
    part: 'main',
    open: (page) =>
      page.getByRole('textbox', { name: 'Job file' }).fill('[a]\nrw=randread\nblock_size=4k\n'),
  },
  {
    name: 'expanded device',
    part: '.device-table',
    open: async (page, server) => {
      await page.goto(`${server.url}/devices`);
      const rows = page.locator('.device-table button');
      const folded = button(page, /^Show \d+ unusable/);
      await expect(rows.or(folded).first()).toBeVisible();
      if (await folded.isVisible()) await folded.click();
      await rows.first().click();
    },
  },
];

let number = 0;
test.beforeAll(async ({ server }) => {
  number = await server.finish(shortRun('states', { runtime: '300ms' }));
});

test('states of finished runs, lists and forms', async ({ signedIn: page, server }) => {
  test.setTimeout(240_000);
  for (const { name, open, part } of STATES) {
    await test.step(name, async () => {
      await open(page, server, number);
      await checkLayouts(page, name, part);
    });
    await page.keyboard.press('Escape');
    // Wait until the menu has closed, before the next one opens.
    await expect(page.getByRole('menu')).toHaveCount(0);
  }
});

test('a live run and a cancelled run', async ({ signedIn: page, server }) => {
  test.setTimeout(180_000);
  const { number: live } = await server.call<{ number: number }>(
    'POST',
    '/runs',
    shortRun('live', { runtime: '170s' }),
  );
  await page.goto(`${server.url}/runs/${live}`);
  await expect(page.getByText(/^mean \d/)).toBeVisible();
  await checkLayouts(page, 'live run');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('Cancelled', { exact: true }).first()).toBeVisible();
  await checkLayouts(page, 'cancelled run');
});
