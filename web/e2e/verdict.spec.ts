// A result served from memory: verdict, counters, and a rerun with direct I/O.
import { findViolations } from './axe';
import { expect, shortRun, test } from './server';

type StoredGauge = Record<'issued' | 'past_cache' | 'reached', { ios: number }>;

const WARM = { direct: 0, pre_read: 1, invalidate: 0, ioengine: 'psync', runtime: '2s' };

test('a warm cache: gauge, verdict, counters, and the direct rerun', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(120_000);
  const number = await server.finish(shortRun('too good to be true', WARM));
  await page.goto(`${server.url}/runs/${number}`);
  const gauge = page.getByRole('img', { name: /^Depth gauge/ });
  await expect(gauge).toContainText('served from');
  await expect(page.locator('.notice').getByText(/IOPS from memory: .* reached/)).toBeVisible();
  await expect(page.getByText(/^Page cache (100|99\.\d+)\s%$/)).toBeVisible();

  // The gauge shows only counts that are in the report.
  const { report: stored } = await server.call<{ report: { gauge: { total: StoredGauge } } }>(
    'GET',
    `/runs/${number}`,
  );
  const { issued, past_cache, reached } = stored.gauge.total;
  const shown = await gauge.locator('text.boundary').allTextContents();
  const counts = [issued, past_cache, reached].map((flow) => flow.ios.toLocaleString('en-US'));
  expect(shown.slice(0, 3)).toEqual(counts);

  await page.keyboard.press('e');
  const counters = page.getByRole('region', { name: /Counters for reads/ });
  const { report } = await server.call<{ report: { read: { ios: number } } }>(
    'GET',
    `/runs/${number}`,
  );
  await expect(counters.getByRole('row', { name: /reads issued/ })).toContainText(
    report.read.ios.toLocaleString('en-US'),
  );
  await expect(counters.getByRole('row', { name: /reads completed by/ })).toContainText(
    '/sys/class/block/',
  );
  await expect(counters.getByRole('button', { name: /^Copy awk/ }).first()).toBeVisible();
  const violations = await findViolations(page);
  expect(violations).toEqual([]);

  await expect(
    page.getByRole('img', { name: /^Start: \d+ cells .* 0 partly cached, 0 not cached\.$/ }),
  ).toBeVisible();
  await expect(
    page.getByRole('region', { name: /^Extents of short/ }).getByRole('row', { name: /^Written/ }),
  ).toContainText('16 MiB');

  await page.getByRole('button', { name: 'Rerun direct' }).first().click();
  await expect(page).toHaveURL(new RegExp(`/runs/${number + 1}$`));
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 40_000 });
  await expect(gauge).toContainText('bypassed');
  await expect(page.getByRole('textbox', { name: 'Run name' })).toHaveValue(
    'too good to be true, direct',
  );

  await page.goto(`${server.url}/compare?runs=${number + 1},${number}`);
  // The notice about the layers precedes the answer, whose button would repeat both runs.
  await expect(page.locator('.notice').first()).toContainText(
    new RegExp(`#${number + 1} was served by the device( with foreign I/O)?, #${number} by memory`),
  );
  await expect(page.locator('.notice').nth(1)).toContainText('Repeat both');
  await expect(page.getByRole('button', { name: /Rerun direct/ })).toHaveCount(0);

  // The run served from memory now links to its direct rerun, unless other I/O also used the disk.
  const { verdict } = await server.call<{ verdict: { read: { class: string } } }>(
    'GET',
    `/runs/${number + 1}`,
  );
  await page.goto(`${server.url}/runs/${number}`);
  if (verdict.read.class === 'device') {
    await expect(page.getByText(/^Same job with direct I\/O: [\d,]+ IOPS/)).toContainText(
      `run #${number + 1}`,
    );
    await page.getByRole('link', { name: 'Compare with direct I/O' }).click();
    await expect(page).toHaveURL(
      new RegExp(`runs=${number + 1},${number}&baseline=${number + 1}$`),
    );
  } else await expect(page.getByRole('button', { name: 'Rerun direct' }).first()).toBeVisible();

  await page.goto(`${server.url}/runs`);
  await page.getByRole('button', { name: 'Verdict' }).click();
  await page.getByRole('menuitemradio', { name: 'Page cache' }).click();
  await expect(page).toHaveURL(/q=verdict:page_cache/);
  await expect(page.getByRole('link', { name: 'too good to be true' }).first()).toBeVisible();
  await expect(page.getByRole('cell', { name: 'Device', exact: true })).toHaveCount(0);
});

test('sets the initial file and cache state', async ({ signedIn: page, server }) => {
  await page.goto(`${server.url}/new`);
  await page.getByText('Cold', { exact: true }).click();
  await page.getByText('Overwritten', { exact: true }).click();
  const text = page.getByRole('textbox', { name: 'Job file' });
  await expect(text).toHaveValue(/cache_state=cold/);
  await expect(text).toHaveValue(/file_state=overwrite/);
  await page
    .getByRole('radiogroup', { name: /cache_state/ })
    .getByText('Unchanged')
    .click();
  await expect(text).not.toHaveValue(/cache_state/);
});
