// Studies whose runs follow a procedure, from the form to the results: a load–latency curve and an
// SNIA test.
import type { Page } from '@playwright/test';
import { findViolations } from './axe';
import { expect, test } from './server';

/** No storage I/O, so the test's duration depends only on the procedure. */
const JOB = '[null]\nioengine=null\nrw=randwrite\nbs=4k\nsize=1m\ndirect=1\n';

/** A job with a file, because the SNIA test requires a file or device. */
const FILE = '[file]\nfilename=snia\nioengine=psync\nrw=randwrite\nbs=4k\nsize=1m\ndirect=1\n';

async function choose(page: Page, url: string, procedure: string, job = JOB) {
  await page.goto(`${url}/new?study=1`);
  await page.getByRole('textbox', { name: 'Job file' }).fill(job);
  await page.getByLabel('Runs in this study').selectOption(procedure);
}

/** List fields are read when they lose focus. */
async function fillList(page: Page, label: string, values: string) {
  const field = page.getByLabel(label, { exact: true });
  await field.fill(values);
  await field.blur();
}

const start = (page: Page) => page.getByRole('button', { name: 'Start', exact: true }).click();

test('a load curve shows its rates and ends before exceeding the maximum bytes written', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(60_000);
  await choose(page, server.url, 'Load–latency curve');
  await fillList(page, 'Rates (IOPS)', '1000 2000 4000');
  await page.getByLabel('Duration per rate (s)').fill('1');
  await page.getByLabel('Ramp (s)').fill('0');
  // The first two rates write about 4 and 8 MB. The third one would write 16 MB and exceed the
  // limit.
  await page.getByLabel('Maximum bytes written').fill('14000000');
  await start(page);
  await expect(page).toHaveURL(/\/studies\/\d+$/);
  await expect(page.getByText('Done', { exact: true }).first()).toBeVisible({ timeout: 45_000 });
  await expect(page.getByText(/The curve ended before 4,?000 IOPS/)).toBeVisible();
  await expect(page.getByText(/Not run: 4,000 IOPS/)).toBeVisible();
  const rates = page.getByRole('region', { name: /^Rates/ });
  await expect(rates.getByRole('rowheader').first()).toContainText('1,000');
  await expect(page.getByRole('img', { name: 'Achieved vs. offered IOPS' })).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
});

test('an SNIA test shows its rounds, deviations and cells', async ({ signedIn: page, server }) => {
  test.setTimeout(120_000);
  await choose(page, server.url, 'IOPS test', FILE);
  await page.getByLabel('Duration per cell (s)').fill('1');
  await page.getByLabel('Maximum rounds').fill('5');
  await fillList(page, 'Read percentages', '0');
  await fillList(page, 'Block sizes', '4k');
  await start(page);
  await expect(page).toHaveURL(/\/studies\/\d+$/);
  await expect(page.getByText('Done', { exact: true }).first()).toBeVisible({ timeout: 100_000 });
  await expect(page.getByText(/^IOPS test\./)).toBeVisible();
  const deviations = page.getByRole('heading', { name: 'Deviations from the specification' });
  await expect(deviations).toBeVisible();
  await expect(page.getByText(/not purged/).first()).toBeVisible();
  await expect(page.getByRole('img', { name: /round/i }).first()).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
});
