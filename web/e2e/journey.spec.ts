// A first visit: demo run, report, buffered rerun, comparison.
import { expect, test } from './server';

test.use({ history: 'journey' });

test('from the first visit to a comparison', async ({ signedIn: page, server }) => {
  test.setTimeout(120_000);
  await expect(page.getByText('No runs yet')).toBeVisible();
  await page.getByRole('button', { name: 'Run the 10-second demo' }).click();
  await expect(page).toHaveURL(/\/runs\/1$/);
  await expect(page.getByText('Measuring', { exact: true })).toBeVisible({ timeout: 30_000 });

  const iops = page.getByLabel('Key metrics').locator('.tile').first();
  await expect(iops.getByText(/^mean \d/)).toBeVisible({ timeout: 8000 });
  const first = await iops.textContent();
  await expect.poll(() => iops.textContent(), { timeout: 8000 }).not.toBe(first);
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 20_000 });

  const { report } = await server.call<{ report: { read: { ios: number } } }>('GET', '/runs/1');
  await expect(iops).toContainText(`${report.read.ios.toLocaleString('en-US')} I/Os in total`);
  await expect(page.getByRole('img', { name: /^Depth gauge/ })).toContainText('bypassed');
  await expect(page.getByRole('row', { name: /^p99\.9 / })).toBeVisible();
  await expect(page.getByRole('img', { name: /^Latency histogram/ })).toBeVisible();

  await page.getByRole('button', { name: 'Rerun buffered' }).click();
  await expect(page).toHaveURL(/\/runs\/2$/);
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 40_000 });

  // On a slow host, filling the page cache takes most of the ten seconds, so the compared run
  // starts with a warm cache.
  const patch = { cache_state: 'warm', invalidate: 0 };
  const { number } = await server.call<{ number: number }>('POST', '/runs/2/rerun', { patch });
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 40_000 });

  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByRole('checkbox', { name: 'Select run 1' }).check();
  await page.getByRole('checkbox', { name: 'Select run 3' }).check();
  await page.keyboard.press('c');
  await expect(page).toHaveURL(/\/compare\?runs=1,3&baseline=1/);
  await expect(
    page.getByText(/^Served by different layers: #1 was served by the device/),
  ).toBeVisible();
  await expect(page.getByText(/may be noise/)).toHaveCount(0);
  await expect(page.getByRole('img', { name: /^Depth gauge/ })).toHaveCount(2);
  await expect(
    page.getByRole('row', { name: /^direct\s+true\s+false|^direct\s+1\s+0/ }),
  ).toBeVisible();
  await expect(page.getByRole('img', { name: /^Latency percentiles/ })).toBeVisible();
});
