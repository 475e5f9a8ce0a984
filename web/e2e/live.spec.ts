// Live runs: reload, cancel, server crash and restart.
import { cpus, loadavg } from 'node:os';
import { expect, shortRun, test } from './server';
import { loadZoom } from './zoom';

/** Relaxes timing limits on a busy machine. */
const isBusy = () => (loadavg()[0] ?? 0) > cpus().length;

const LONG = { runtime: '20s', size: '32m' };

test('shows the first sample within a second of the start, on an existing file', async ({
  signedIn: page,
  server,
}) => {
  await server.finish(shortRun('layout'));
  await page.goto(`${server.url}/new`);
  const text = page.getByRole('textbox', { name: 'Job file' });
  await text.fill(
    '[short]\nfilename=short\nrw=randread\nbs=4k\niodepth=4\ndirect=1\nsize=16m\nruntime=10s\ntime_based\n',
  );
  await expect(page.getByText(/^about/)).toBeVisible();
  const begin = Date.now();
  await page.keyboard.press('Control+Enter');
  await expect(page.getByText(/^mean \d/)).toBeVisible();
  const took_ms = Date.now() - begin;
  test
    .info()
    .annotations.push({ type: 'first sample', description: `${took_ms} ms after Ctrl-Enter` });
  expect(took_ms).toBeLessThan(isBusy() ? 6000 : 1500);
});

test('a reload leaves no gap in the samples', async ({ signedIn: page, server }) => {
  const { number } = await server.call<{ number: number }>(
    'POST',
    '/runs',
    shortRun('reloaded', { runtime: '4s' }),
  );
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page.getByText(/^mean \d/)).toBeVisible();
  await page.reload();
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 15_000 });
  await page.getByRole('button', { name: 'Show as table' }).click();
  const { samples } = await server.call<{ samples: number }>('GET', `/runs/${number}`);
  await expect(
    page.getByRole('region', { name: 'Samples, scrollable' }).locator('tbody tr'),
  ).toHaveCount(samples);
});

test('cancel keeps the results so far', async ({ signedIn: page, server }) => {
  const { number } = await server.call<{ number: number }>(
    'POST',
    '/runs',
    shortRun('cancelled', LONG),
  );
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page.getByText(/^mean \d/)).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('Cancelled', { exact: true }).first()).toBeVisible();
  await expect(page.getByText(/I\/Os in total/)).toBeVisible();
});

test('reports a lost server, and the final status after its restart', async ({
  signedIn: page,
  server,
}) => {
  const { number } = await server.call<{ number: number }>(
    'POST',
    '/runs',
    shortRun('killed', LONG),
  );
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page.getByText(/^mean \d/)).toBeVisible();
  await page.waitForTimeout(1500);
  await server.kill();
  await expect(page.getByText('Connection lost')).toBeVisible();
  await server.start();
  await expect(page.getByText('Interrupted', { exact: true }).first()).toBeVisible({
    timeout: 15_000,
  });
  await expect(page.getByText('Connection lost')).toBeHidden();
  // The samples so far are shown, but not as a result.
  await expect(page.getByText(/^Partial: [\d,]+ I\/Os$/)).toBeVisible();
  await page.goto(`${server.url}/runs`);
  // Lists show the same metrics and also mark them as partial.
  const row = page.getByRole('row', { name: /killed/ });
  await expect(row).toContainText('Partial', { timeout: 20_000 });
  const { iops } = await server.call<{ iops: number }>('GET', `/runs/${number}`);
  expect(iops).toBeGreaterThan(0);
  const inList = await row.locator('b').textContent();
  await page.goto(`${server.url}/runs/${number}`);
  const tile = page.getByLabel('Key metrics').locator('.tile b').first();
  await expect(tile).toHaveText((inList ?? '').replace(/\s/g, ''));
  const complete = await server.finish(shortRun('complete', { runtime: '300ms' }));
  await page.goto(`${server.url}/compare?runs=${complete},${number}`);
  await expect(page.getByText(/^Partial: /)).toContainText(`${inList} IOPS`);
});

test('a finished run is loaded once, and its legends show the whole run', async ({
  signedIn: page,
  server,
}) => {
  const number = await server.finish(shortRun('legends'));
  const requests: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  await page.goto(`${server.url}/runs/${number}`);
  const tiles = page.getByLabel('Key metrics').locator('.tile b');
  const legend = (chart: string, index: number) =>
    page.locator('.chart', { hasText: chart }).locator('.legend b').nth(index);
  await expect(legend('IOPS', 0)).not.toBeEmpty();
  const texts = (await tiles.allTextContents()).map((text) => text.replace(/\s/g, ''));
  const value = async (chart: string, index: number) =>
    (await legend(chart, index).textContent())?.replace(/\s/g, '');
  expect(await value('IOPS', 0)).toBe(texts[0]);
  expect(await value('Latency (log)', 0)).toBe(texts[2]);
  expect(await value('Latency (log)', 1)).toBe(texts[3]);
  expect(await value('Bandwidth', 0)).toBe(texts[1]);
  await page.waitForTimeout(500);
  expect(requests.filter((path) => path === `/api/v1/runs/${number}`)).toHaveLength(1);
});

test('an idle page shows the sign-in page after a restart with a different token', async ({
  signedIn: page,
  server,
}) => {
  await page.goto(`${server.url}/devices`);
  await expect(page.getByRole('heading', { name: 'Devices', exact: true })).toBeVisible();
  await server.kill();
  await server.start('another-token-0123456789abcdef01');
  await expect(page.getByRole('heading', { name: 'Sign in to Leadline' })).toBeVisible({
    timeout: 15_000,
  });
  await server.kill();
  await server.start();
});

test('zooms with the range in the URL', async ({ signedIn: page, server }) => {
  const number = await server.finish(shortRun('zoomed', { runtime: '2s' }));
  await page.goto(`${server.url}/runs/${number}`);
  const chart = page.locator('.chart canvas').first();
  await expect(chart).toBeVisible();
  await loadZoom(page);
  const box = await chart.boundingBox();
  if (!box) throw new Error('the chart has no bounding box');
  await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 90, { steps: 8 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=[\d.]+&to=[\d.]+/);
  await page.getByRole('button', { name: 'Reset zoom' }).click();
  await expect(page).not.toHaveURL(/from=/);
});
