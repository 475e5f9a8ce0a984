// Two runs from the history are repeated in random order and compared as groups, which yields a
// confidence interval for their difference.
import { violationsOf } from './axe';
import { expect, shortRun, test } from './server';

test('repeats and compares two runs in four clicks', async ({ signedIn: page, server }) => {
  test.setTimeout(120_000);
  const options = { runtime: '200ms', ioengine: 'null' };
  const numbers: number[] = [];
  for (const name of ['one', 'two']) {
    const run = await server.call<{ number: number }>('POST', '/runs', shortRun(name, options));
    await expect
      .poll(
        async () => (await server.call<{ status: string }>('GET', `/runs/${run.number}`)).status,
      )
      .toBe('done');
    numbers.push(run.number);
  }
  await page.goto(`${server.url}/runs`);
  for (const number of numbers) {
    await page.getByRole('checkbox', { name: `Select run ${number}`, exact: true }).check();
  }
  await page.getByRole('link', { name: 'Compare' }).last().click();
  await expect(page.getByText(/^Undecided: .*One run each; a verdict on/)).toBeVisible();
  await page.getByRole('button', { name: /^Repeat both 10 times, interleaved/ }).click();
  await expect(page).toHaveURL(/\/studies\/\d+$/);
  await expect(page.getByText('20 of 20 runs')).toBeVisible({ timeout: 90_000 });
  await expect(page.getByText(/95 % interval .* 10 pairs/)).toBeVisible();
  await page.getByRole('link', { name: 'Compare runs' }).click();
  await expect(page).toHaveURL(/a=study:\d+%2Fstep:1&b=study:\d+%2Fstep:2/);
  await expect(page.getByRole('region', { name: 'Metrics, scrollable' })).toContainText('Verdict');
  await expect(page.getByRole('img', { name: /^#\d+ one: #\d+/ }).first()).toBeVisible();

  await page.getByRole('button', { name: 'Export ▾' }).click();
  const downloaded = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: /^HTML report/ }).click();
  const report = test.info().outputPath('comparison.html');
  await (await downloaded).saveAs(report);
  const offline = await page.context().newPage();
  await offline.goto(`file://${report}`);
  await expect(offline.getByText(/95 % interval .* 10 pairs/).first()).toBeVisible();
  await expect(offline.getByRole('cell', { name: 'Read IOPS' }).first()).toBeVisible();
  await offline.close();

  await page.getByLabel('Group b').fill('tag:none');
  await page.getByRole('button', { name: 'Compare groups' }).click();
  await expect(page.getByText('No finished run matches `tag:none`.')).toBeVisible();
  await page.goBack();
  await expect(page.getByText(/95 % interval .* 10 pairs/)).toBeVisible();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violationsOf(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 800 });
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBe(0);
});
