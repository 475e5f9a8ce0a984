// Keyboard-only use, and form errors.
import { expect, shortRun, test } from './server';

test('navigates by keyboard', async ({ signedIn: page }) => {
  const keys: [string[], RegExp][] = [
    [['n'], /\/new$/],
    [['g', 'd'], /\/devices$/],
    [['g', 'c'], /\/compare$/],
    [['g', 'h'], /\/runs$/],
  ];
  await page.locator('body').press('Escape');
  for (const [pressed, url] of keys) {
    for (const key of pressed) await page.keyboard.press(key);
    await expect(page).toHaveURL(url);
    // A page that loads between two key presses may take focus.
    await expect(page.locator('main h1').first()).toBeVisible();
  }
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
});

test('skip link focuses the content', async ({ signedIn: page }) => {
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('main')).toBeFocused();
});

test('builds, starts, names and deletes a run by keyboard', async ({ signedIn: page, server }) => {
  await page.keyboard.press('n');
  await page.getByRole('textbox', { name: 'Job file' }).focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(
    '[keys]\nfilename=keys\nrw=randread\nbs=4k\ndirect=1\nsize=8m\nruntime=1s\ntime_based\n',
  );
  await expect(page.getByText(/to create/)).toBeVisible();
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 20_000 });
  await page.getByRole('textbox', { name: 'Run name' }).focus();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText('keyboard only');
  await page.keyboard.press('Enter');
  const number = Number(/\d+$/.exec(page.url())?.[0]);
  await expect
    .poll(async () => (await server.call<{ name: string }>('GET', `/runs/${number}`)).name)
    .toBe('keyboard only');
  await page.getByRole('button', { name: 'More actions' }).press('Enter');
  await page.getByRole('menuitem', { name: /Delete run/ }).press('Enter');
  await page.getByRole('button', { name: `Delete run #${number}` }).press('Enter');
  await expect(page).toHaveURL(/\/runs$/);
});

test('shows errors and remedies next to the field', async ({ signedIn: page }) => {
  await page.goto(new URL('/new', page.url()).href);
  await page.getByRole('combobox', { name: /Block size/ }).fill('3000');
  await expect(page.getByRole('status').getByText(/line 4:/)).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toHaveAttribute(
    'aria-disabled',
    'true',
  );
  await page
    .getByRole('textbox', { name: 'Job file' })
    .fill('[a]\nrw=randread\nblock_size=4k\nsize=8m\n');
  await expect(page.getByRole('status')).toContainText(/block_size.*Did you mean/);
  await page.getByRole('textbox', { name: 'Job file' }).fill('[a]\nrw=randread\nbs=4k\nsize=8m\n');
  await expect(page.getByRole('status')).toContainText(/direct/);
});

test('filters, sorts and tags runs', async ({ signedIn: page, server }) => {
  await server.finish(shortRun('to be found', { rw: 'read', bs: '64k' }));
  await page.goto(`${server.url}/runs`);
  await expect(page.getByRole('searchbox', { name: 'Filter runs' })).toBeVisible();
  await page.keyboard.press('/');
  await page.keyboard.type('rw:read found');
  await expect(page.getByText('1 match')).toBeVisible();
  await expect(page).toHaveURL(/q=rw:read/);
  await page.getByRole('button', { name: 'p99' }).click();
  await expect(page.getByRole('columnheader', { name: /p99/ })).toHaveAttribute(
    'aria-sort',
    'descending',
  );
  await page.getByRole('checkbox', { name: /^Select run/ }).check();
  await page.getByRole('button', { name: 'Tag…' }).click();
  await page.getByRole('textbox', { name: 'Tag' }).fill('nightly');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('cell', { name: 'nightly' })).toBeVisible();
});
