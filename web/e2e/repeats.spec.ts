// Repeats two runs from the history in random order and compares them as groups. The result is a
// confidence interval for their difference.
import type { Locator, Page } from '@playwright/test';
import { findViolations, overflow } from './axe';
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
  await expect(
    page.getByText(
      /^Undecided: .*\(one run each\)\. A verdict on .* requires at least \d+ runs per group\.$/,
    ),
  ).toBeVisible();
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
    expect(await findViolations(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 800 });
  await expect.poll(() => overflow(page)).toBe(0);
});

/** Counts the user's clicks across page loads. */
async function countClicks(page: Page): Promise<() => number> {
  let clicks = 0;
  await page.exposeFunction('countClick', () => {
    clicks += 1;
  });
  await page.addInitScript(() => {
    const { countClick } = window as unknown as { countClick: () => void };
    // A click on a label also generates a click on its field. That click has a `detail` of 0.
    document.addEventListener('click', ({ detail }) => detail > 0 && countClick(), true);
  });
  return () => clicks;
}

/** Whether the text is visible without scrolling. */
const isOnFirstScreen = async (text: Locator, height: number) => {
  const box = await text.boundingBox();
  return box !== null && box.y >= 0 && box.y + box.height <= height;
};

test('decides between two runs in four clicks, and exports the answer', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(300_000);
  const numbers: number[] = [];
  // 20 % fewer I/Os.
  for (const rate_iops of [5000, 4000]) {
    const options = { runtime: '300ms', ioengine: 'null', rate_iops };
    numbers.push(await server.finish(shortRun(`rate ${rate_iops}`, options)));
  }
  const clicks = await countClicks(page);
  await page.goto(`${server.url}/runs`);
  for (const number of numbers)
    await page.getByRole('checkbox', { name: `Select run ${number}`, exact: true }).click();
  await page.getByRole('link', { name: 'Compare' }).last().click();
  await page.getByRole('button', { name: /^Repeat both until decided/ }).click();
  await expect(page).toHaveURL(/\/studies\/\d+$/);
  const answer = page.getByText(/has \d+ % lower read IOPS than .* % interval .*: worse\.$/);
  await expect(answer.first()).toBeVisible({ timeout: 280_000 });
  expect(clicks()).toBeLessThanOrEqual(4);
  await expect(page.getByText(/^Decided after \d+ pairs$/)).toBeVisible();
  await expect(page.getByText('Done', { exact: true }).first()).toBeVisible();

  const study = page.url();
  const exports = [
    { at: study, entry: /^HTML report/ },
    {
      at: `${server.url}/compare?a=study:${study.split('/').at(-1)}/step:1&b=study:${study.split('/').at(-1)}/step:2`,
      entry: /^HTML report/,
    },
  ];
  for (const { at, entry } of exports) {
    await page.goto(at);
    await page.getByRole('button', { name: 'Export ▾' }).click();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: entry }).click();
    const file = test.info().outputPath('export.html');
    await (await downloaded).saveAs(file);
    for (const viewport of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ]) {
      const offline = await page.context().newPage();
      await offline.setViewportSize(viewport);
      await offline.goto(`file://${file}`);
      const sentence = offline.getByText(/has \d+ % lower read IOPS than .* interval .*: worse\./);
      await expect(sentence.first()).toBeVisible();
      expect(await isOnFirstScreen(sentence.first(), viewport.height), `${entry}`).toBe(true);
      await offline.close();
    }
  }
});
