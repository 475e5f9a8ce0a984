// Phone layout: one header row, the result on the first screen, and every action within reach.
import type { Locator } from '@playwright/test';
import { expect, shortRun, test } from './server';

const VIEWPORT = { width: 390, height: 844 };

async function getBottom(locator: Locator) {
  const box = await locator.boundingBox();
  if (!box) throw new Error('no bounding box');
  return box.y + box.height;
}

test.beforeEach(({ signedIn: page }) => page.setViewportSize(VIEWPORT));

test('the header is one row, and its menu opens all pages', async ({ signedIn: page, server }) => {
  await page.goto(`${server.url}/runs`);
  const header = page.locator('header.frame');
  await expect(header.getByText(/running/)).toBeVisible();
  expect((await header.boundingBox())?.height).toBeLessThan(60);
  for (const name of [
    'New run',
    'Studies',
    'Compare',
    'Trends',
    'Schedules',
    'Devices',
    'Settings',
  ]) {
    await page.getByRole('button', { name: 'Pages' }).click();
    await page.getByRole('menuitem', { name }).click();
    await expect(page).toHaveTitle(new RegExp(`^${name}`));
  }
});

test('a run shows its verdict and tiles on the first screen, with all actions in reach', async ({
  signedIn: page,
  server,
}) => {
  const number = await server.finish(shortRun('phone', { direct: 0, size: '8m' }));
  await page.goto(`${server.url}/runs/${number}`);
  const tiles = page.getByLabel('Key metrics').locator('.tile');
  await expect(tiles).toHaveCount(5);
  expect(await getBottom(page.locator('.notice').first())).toBeLessThan(VIEWPORT.height);
  expect(await getBottom(tiles.last())).toBeLessThan(VIEWPORT.height);
  const actions = page.locator('.run-actions').locator('button, a');
  for (const action of await actions.all()) {
    await action.scrollIntoViewIfNeeded();
    await expect(action).toBeInViewport({ ratio: 0.9 });
  }
  await actions.last().click();
  await page.getByRole('menuitem', { name: /^Delete run/ }).click();
  await expect(page.getByRole('button', { name: 'Cancel' })).toBeInViewport();
});

test('the history shows IOPS and verdict without scrolling', async ({ signedIn: page, server }) => {
  const number = await server.finish(shortRun('listed'));
  await page.goto(`${server.url}/runs`);
  const row = page.getByRole('row', { name: /listed/ });
  for (const cell of [row.locator('b'), row.locator('.badge')])
    await expect(cell).toBeInViewport({ ratio: 1 });
  await page.getByRole('checkbox', { name: `Select run ${number}` }).check();
  for (const name of ['Tag…', 'Export CSV', 'Delete…', 'Clear selection'])
    await expect(page.getByRole('button', { name })).toBeInViewport({ ratio: 1 });
});

test('lists and comparisons show all columns, with whole words', async ({
  signedIn: page,
  server,
}) => {
  const name = 'Nightly regression of the write-ahead log volume after the kernel update';
  const jobs = shortRun('', { ioengine: 'null', runtime: '200ms' }).jobs;
  const study = { name, repeats: 2, steps: [{ jobs }, { jobs }], idle_wait_seconds: 0 };
  const { number } = await server.call<{ number: number }>('POST', '/studies', study);
  const status = async () =>
    (await server.call<{ status: string }>('GET', `/studies/${number}`)).status;
  await expect.poll(status, { timeout: 30_000 }).toBe('done');
  for (const [path, label] of [
    ['/studies', 'Studies'],
    ['/trends', 'Trends'],
  ]) {
    await page.goto(server.url + path);
    const region = page.getByRole('region', { name: `${label}, scrollable` });
    const table = page.getByRole('table', { name: label }).or(region).first();
    await expect(table.getByRole('link').first()).toBeVisible();
    const hidden = await table.evaluate((element) =>
      [...element.querySelectorAll('td')]
        .filter((cell) => cell.getBoundingClientRect().right > innerWidth)
        .map((cell) => cell.textContent),
    );
    expect(hidden, `cells off screen:${path}`).toEqual([]);
  }
  await page.goto(`${server.url}/compare?a=study:${number}/step:1&b=study:${number}/step:2`);
  const names = page.locator('.metrics th[scope="row"]');
  await expect(names.first()).toBeVisible();
  // A three-word name takes at most three lines.
  const heights = await names.evaluateAll((cells) => cells.map((cell) => cell.clientHeight));
  expect(Math.max(...heights)).toBeLessThan(90);
});
