// Accessibility rules in states of the pages beyond the first view: menus, dialogs, toasts, errors,
// live runs, opened cards.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, type Server, shortRun, test } from './server';

interface State {
  name: string;
  /** Opens the state on a page of run `number`. */
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
    open: async (page, server, number) => {
      await openRun(page, server, number);
      await openMenu(page, /^Copy/);
    },
  },
  { name: 'export menu', open: (page) => openMenu(page, /^Export/) },
  {
    name: 'delete dialog',
    open: async (page) => {
      await openMenu(page, 'More actions');
      await page.getByRole('menuitem', { name: /^Delete run/ }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
    },
  },
  {
    name: 'toast',
    open: async (page) => {
      await openMenu(page, /^Copy/);
      await page.getByRole('menuitem', { name: 'fio job file' }).click();
      await expect(page.locator('.mantine-Notification-root')).toBeVisible();
    },
  },
  { name: 'counters', open: (page) => button(page, 'Show counters').click() },
  { name: 'samples as a table', open: (page) => button(page, 'Show as table').click() },
  {
    name: 'verdict menu',
    open: async (page, server) => {
      await page.goto(`${server.url}/runs`);
      await openMenu(page, /^Verdict/);
    },
  },
  { name: 'column menu', open: (page) => openMenu(page, /^Columns/) },
  {
    name: 'tag dialog',
    open: async (page, _, number) => {
      await page.getByRole('checkbox', { name: `Select run ${number}` }).check();
      await button(page, 'Tag…').click();
    },
  },
  { name: 'filter without matches', open: (page, server) => page.goto(`${server.url}/runs?q=zzz`) },
  { name: 'unknown filter key', open: (page, server) => page.goto(`${server.url}/runs?q=zzz:1`) },
  {
    name: 'opened experiments',
    open: async (page, server) => {
      await page.goto(`${server.url}/new`);
      await expect(page.getByText('Steps, plan and published results').first()).toBeVisible();
      for (const summary of await page.locator('.experiment summary').all()) await summary.click();
      await expect(page.getByText('Published', { exact: false }).last()).toBeVisible();
    },
  },
  { name: 'presets menu', open: (page) => openMenu(page, /^Presets/) },
  {
    name: 'rejected job',
    open: (page) =>
      page.getByRole('textbox', { name: 'Job file' }).fill('[a]\nrw=randread\nblock_size=4k\n'),
  },
  {
    name: 'opened device',
    open: async (page, server) => {
      await page.goto(`${server.url}/devices`);
      await page.locator('.device-table button').first().click();
    },
  },
];

let number = 0;
test.beforeAll(async ({ server }) => {
  number = await server.finish(shortRun('states', { runtime: '300ms' }));
});

/** The first layout has all rules; the others have the rules that depend on theme and width. */
const LAYOUTS = [
  { width: 1440, theme: 'dark', rules: null },
  { width: 1024, theme: 'light', rules: ['color-contrast', 'scrollable-region-focusable'] },
  { width: 390, theme: 'dark', rules: ['scrollable-region-focusable', 'target-size'] },
] as const;

const LAYOUT_ATTRIBUTE = 'data-mantine-color-scheme';

async function check(page: Page, name: string) {
  for (const { width, theme, rules } of LAYOUTS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute(LAYOUT_ATTRIBUTE, theme);
    await page.waitForTimeout(150);
    const builder = new AxeBuilder({ page });
    const { violations } = await (rules ? builder.withRules([...rules]) : builder).analyze();
    const texts = violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
    );
    expect.soft(texts, `${name}, ${width} px, ${theme}`).toEqual([]);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect.soft(overflow, `horizontal scrolling: ${name}, ${width} px`).toBeLessThanOrEqual(0);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

test('states of finished runs, lists and forms', async ({ signedIn: page, server }) => {
  test.setTimeout(240_000);
  for (const { name, open } of STATES) {
    await open(page, server, number);
    await check(page, name);
    await page.keyboard.press('Escape');
    // A menu that is closing would be a second one beside the next.
    await expect(page.getByRole('menu')).toHaveCount(0);
  }
});

test('a live run and a cancelled run', async ({ signedIn: page, server }) => {
  const { number: live } = await server.call<{ number: number }>(
    'POST',
    '/runs',
    shortRun('live', { runtime: '60s' }),
  );
  await page.goto(`${server.url}/runs/${live}`);
  await expect(page.getByText(/^mean \d/)).toBeVisible();
  await check(page, 'live run');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('Cancelled', { exact: true }).first()).toBeVisible();
  await check(page, 'cancelled run');
});
