// A new user gets from an empty server to a shared HTML report that answers "Is my disk or my
// memory being measured?", without documentation and using only the primary button on each page.
import { pathToFileURL } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, test } from './server';

test.use({ history: 'first-report' });

/** Time limit from the first page to the report, including two or three runs of ten seconds. */
const MAX_MS = 180_000;

const click = (
  page: Page,
  name: string | RegExp,
  role: 'button' | 'link' | 'menuitem' = 'button',
) => page.getByRole('main').or(page.getByRole('menu')).getByRole(role, { name }).first().click();

const waitForRun = (page: Page) =>
  expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 90_000 });

test('from an empty server to a shared report', async ({ signedIn: page, server }) => {
  test.setTimeout(2 * MAX_MS);
  const begin = Date.now();
  const elapsed: string[] = [];
  const reach = (what: string) => {
    elapsed.push(`${what} ${((Date.now() - begin) / 1000).toFixed(1)} s`);
  };
  await expect(page.getByText(/shows which layer served the I\/O/)).toBeVisible();
  await click(page, 'Run the 10-second demo');
  await expect(page.getByLabel('Key metrics').getByText(/^mean \d/)).toBeVisible();
  reach('first number');
  await waitForRun(page);
  const verdict = page.locator('.notice').first();
  await expect(verdict).toContainText(/IOPS/);
  reach('direct run');

  await click(page, 'Rerun buffered');
  await expect(page).toHaveURL(/\/runs\/2$/);
  await waitForRun(page);
  reach('buffered run');
  // On a slow disk, ten seconds do not fill the page cache.
  const warm = page.getByRole('button', { name: 'Rerun with a warm cache' });
  const compare = page.getByRole('link', { name: 'Compare with direct I/O' });
  await expect(warm.or(compare)).toBeVisible();
  if (await warm.isVisible()) {
    await warm.click();
    await expect(page).toHaveURL(/\/runs\/3$/);
    await waitForRun(page);
    reach('warm run');
  }
  await expect(verdict).toContainText(/memory/);
  await compare.click();
  await expect(page.getByText(/#1 was served by the device/)).toBeVisible();
  await click(page, 'Export');
  const download = page.waitForEvent('download');
  await click(page, /^HTML report/, 'menuitem');
  const file = test.info().outputPath('report.html');
  await (await download).saveAs(file);
  const total_ms = Date.now() - begin;
  reach('report');
  test.info().annotations.push({ type: 'elapsed', description: elapsed.join(', ') });

  await page.context().setOffline(true);
  const report = await page.context().newPage();
  await report.goto(pathToFileURL(file).href);
  await expect(report.getByText(/#1 was served by the device/).first()).toBeVisible();
  await report.close();
  await page.context().setOffline(false);
  expect(total_ms, elapsed.join(', ')).toBeLessThan(MAX_MS);
  expect(server.url).toBeTruthy();
});
