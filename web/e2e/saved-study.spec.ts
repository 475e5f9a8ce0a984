// Studies saved as a single HTML file open without the server, and their charts can be saved as
// images.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from '@playwright/test';
import type { Study } from '../src/api';
import { findViolations } from './axe';
import { expect, type Server, test } from './server';

const NULL_JOB = { ioengine: 'null', rw: 'randread', bs: '4k', size: '1g', direct: 1 };
const SHORT = { runtime: '300ms', time_based: 1 };

async function finishStudy(server: Server, study: object): Promise<number> {
  const { number } = await server.call<Study>('POST', '/studies', study);
  await expect
    .poll(async () => (await server.call<Study>('GET', `/studies/${number}`)).status, {
      timeout: 60_000,
    })
    .toBe('done');
  return number;
}

/** Saves the study's page, opens it offline, and checks that it does not send requests. */
async function openSaved(page: Page, server: Server, n: number, check: () => Promise<void>) {
  await page.goto(`${server.url}/studies/${n}`);
  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'HTML report' }).click();
  const file = join(server.directory, `study-${n}.html`);
  await (await download).saveAs(file);

  await page.context().setOffline(true);
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(pathToFileURL(file).href);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(`Study #${n}`);
  await expect(page.getByRole('button', { name: /Delete|Cancel|^Export ▾/ })).toHaveCount(0);
  await expect(page.getByRole('link')).toHaveCount(0);
  await check();
  expect(await findViolations(page)).toEqual([]);
  expect(requests.filter((url) => !/^(data|blob):/.test(url))).toEqual([pathToFileURL(file).href]);
  expect(errors).toEqual([]);
}

test('a saved study with compared steps opens offline', async ({ signedIn: page, server }) => {
  test.setTimeout(90_000);
  const step = (iodepth: number) => ({
    name: `depth ${iodepth}`,
    jobs: [{ ...NULL_JOB, ...SHORT, name: 'a', iodepth }],
  });
  const name = '</script><b>two depths';
  const n = await finishStudy(server, { name, repeats: 2, steps: [step(1), step(4)] });
  await openSaved(page, server, n, async () => {
    await expect(page.getByRole('heading', { level: 1 })).toContainText(name);
    await expect(page.getByRole('region', { name: 'Depth gauges by step' })).toBeVisible();
    await expect(page.getByRole('region', { name: /^Steps.*scrollable$/ })).toBeVisible();
    await expect(page.locator('canvas').first()).toBeVisible();
    await expect(page.getByText('depth 4').first()).toBeVisible();
  });
});

test('a saved sweep opens offline, and its charts are saved as images', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(90_000);
  const n = await finishStudy(server, {
    name: 'sweep',
    sweep: [{ option: 'iodepth', values: [1, 2, 4] }],
    steps: [{ name: 'depths', jobs: [{ ...NULL_JOB, ...SHORT, name: 'a' }] }],
  });
  await openSaved(page, server, n, async () => {
    await expect(page.getByRole('region', { name: /^Sweep medians/ })).toBeVisible();
    await expect(page.getByRole('img', { name: 'IOPS by iodepth' })).toBeVisible();
    const titles = [
      'IOPS by iodepth',
      'p99 latency by iodepth (log)',
      'Bandwidth by iodepth',
      'p99 latency vs. IOPS (log)',
    ];
    for (const title of titles) {
      await page.getByRole('button', { name: `Chart options: ${title}`, exact: true }).click();
      const download = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: 'Save as PNG' }).click();
      const file = await (await download).path();
      const png = readFileSync(file);
      expect(png.subarray(1, 4).toString()).toBe('PNG');
      // The image width is in the file header.
      expect(png.readUInt32BE(16)).toBeGreaterThan(200);
      expect(png.length).toBeGreaterThan(3000);
      await expect(page.getByRole('menuitem')).toHaveCount(0);
    }
  });
});

test('a saved load curve opens offline', async ({ signedIn: page, server }) => {
  test.setTimeout(90_000);
  const n = await finishStudy(server, {
    name: 'curve',
    load_curve: { rates: [1000, 2000], seconds: 1, ramp_seconds: 0 },
    steps: [{ jobs: [{ ...NULL_JOB, name: 'a' }] }],
  });
  await openSaved(page, server, n, async () => {
    await expect(page.getByRole('region', { name: /^Rates/ })).toBeVisible();
    await expect(page.getByRole('img', { name: 'Achieved vs. offered IOPS' })).toBeVisible();
  });
});
