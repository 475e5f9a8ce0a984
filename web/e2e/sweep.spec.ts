// A sweep from the form to its table and charts.
import { findViolations } from './axe';
import { expect, test } from './server';

test('a sweep is entered, runs, and shows its results', async ({ signedIn: page, server }) => {
  test.setTimeout(45_000);
  await page.goto(`${server.url}/new?study=1`);
  await page
    .getByRole('textbox', { name: 'Job file' })
    .fill(
      '[null]\nioengine=null\nrw=randread\nbs=4k\nsize=1g\ndirect=1\nruntime=200ms\ntime_based',
    );
  await page.getByLabel('Repeats per step').fill('2');
  await page.getByRole('button', { name: 'Add option to sweep' }).click();
  await page.getByLabel('Option 1', { exact: true }).fill('iodpeth');
  await page.getByLabel('Values of option 1').fill('1 2, 4');
  await expect(page.getByText('iodpeth is not an option.').first()).toBeVisible();
  await page.getByLabel('Option 1', { exact: true }).fill('iodepth');
  await expect(page.getByText(/3 steps, 6 runs/)).toBeVisible();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByText('6 of 6 runs')).toBeVisible({ timeout: 60_000 });
  const table = page.getByRole('region', { name: /^Sweep medians.*scrollable$/ });
  await expect(table.getByRole('columnheader')).toHaveText(['iodepth', '1', '2', '4']);
  await expect(table.getByRole('cell').first()).toContainText(/\d/);
  await expect(page.getByText(/^Highest IOPS with a p99 of at most 1 ms: iodepth=/)).toBeVisible();
  await expect(page.getByRole('img', { name: 'IOPS by iodepth' })).toBeVisible();
  await page.getByText('All 6 runs').click();
  await expect(page.getByRole('region', { name: /^Steps.*scrollable$/ })).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
});
