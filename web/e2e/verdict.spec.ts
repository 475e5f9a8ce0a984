// Somebody who has never heard of a page cache: a number that is too good, why, the proof, and one click to the disk's own.
import AxeBuilder from '@axe-core/playwright';
import { expect, shortRun, test } from './server';

const WARM = { direct: 0, pre_read: 1, invalidate: 0, ioengine: 'psync', runtime: '2s' };

test('a warm cache: gauge, sentence, proof, and the rerun past it by one click', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(120_000);
  const number = await server.finish(shortRun('too good to be true', WARM));
  await page.goto(`${server.url}/runs/${number}`);
  const gauge = page.getByRole('img', { name: /^Depth gauge/ });
  await expect(gauge).toContainText('answered from');
  await expect(
    page.locator('.notice').getByText(/IOPS came from memory: .* reached/),
  ).toBeVisible();
  await expect(page.getByText(/^page cache (100|99\.\d+)\s%$/)).toBeVisible();

  await page.keyboard.press('e');
  const proof = page.getByRole('region', { name: /What was counted for reads/ });
  const { report } = await server.call<{ report: { read: { ios: number } } }>(
    'GET',
    `/runs/${number}`,
  );
  await expect(proof.getByRole('row', { name: /reads issued and completed/ })).toContainText(
    report.read.ios.toLocaleString('en-US'),
  );
  await expect(proof.getByRole('row', { name: /reads completed by/ })).toContainText(
    '/sys/class/block/',
  );
  await expect(proof.getByRole('button', { name: /^Copy awk/ }).first()).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
  ).toEqual([]);

  await expect(
    page.getByRole('img', { name: /^at the start: \d+ cells .* 0 in part, 0 not\.$/ }),
  ).toBeVisible();
  await expect(
    page.getByRole('region', { name: /^Extents of short/ }).getByRole('row', { name: /^written/ }),
  ).toContainText('16 MiB');

  await page.getByRole('button', { name: 'Rerun direct' }).first().click();
  await expect(page).toHaveURL(new RegExp(`/runs/${number + 1}$`));
  await expect(page.getByText('done', { exact: true })).toBeVisible({ timeout: 40_000 });
  await expect(gauge).toContainText('bypassed');

  await page.goto(`${server.url}/compare?runs=${number + 1},${number}`);
  await expect(
    page.getByText(
      new RegExp(
        `#${number + 1} was served by the device(, beside others)?, #${number} by memory: not the same test\\.`,
      ),
    ),
  ).toBeVisible();
  await expect(page.getByRole('button', { name: /Rerun direct/ })).toHaveCount(0);

  // The run that memory answered knows by now what the disk does, unless others used it meanwhile.
  const { verdict } = await server.call<{ verdict: { read: { class: string } } }>(
    'GET',
    `/runs/${number + 1}`,
  );
  await page.goto(`${server.url}/runs/${number}`);
  if (verdict.read.class === 'device') {
    await expect(page.getByText(/^The disk itself: [\d,]+ IOPS/)).toContainText(
      `run #${number + 1}`,
    );
    await page.getByRole('link', { name: 'Compare with the disk' }).click();
    await expect(page).toHaveURL(
      new RegExp(`runs=${number + 1},${number}&baseline=${number + 1}$`),
    );
  } else await expect(page.getByRole('button', { name: 'Rerun direct' }).first()).toBeVisible();

  await page.goto(`${server.url}/runs`);
  await page.getByRole('button', { name: 'Verdict' }).click();
  await page.getByRole('menuitemradio', { name: 'page cache' }).click();
  await expect(page).toHaveURL(/q=verdict:page_cache/);
  await expect(page.getByRole('link', { name: 'too good to be true' }).first()).toBeVisible();
  await expect(page.getByRole('cell', { name: 'device', exact: true })).toHaveCount(0);
});

test('says with what state of file and cache a run begins', async ({ signedIn: page, server }) => {
  await page.goto(`${server.url}/new`);
  await page.getByText('cold', { exact: true }).click();
  await page.getByText('overwritten', { exact: true }).click();
  const text = page.getByRole('textbox', { name: 'Job file' });
  await expect(text).toHaveValue(/cache_state=cold/);
  await expect(text).toHaveValue(/file_state=overwrite/);
  await page
    .getByRole('radiogroup', { name: /cache_state/ })
    .getByText('as it is')
    .click();
  await expect(text).not.toHaveValue(/cache_state/);
});
