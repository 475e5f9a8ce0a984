// One screenshot of each view in each layout.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';
import { Server } from '../e2e/server';
import { DATA, IMAGES } from './directory';
import { type Examples, prepareExamples } from './examples';
import { VIEWS, type View } from './views';

/** Time to load the charts and panels below the first screen. */
const SETTLE_MS = 1500;
const OPEN_MS = 500;
const SERVER_GONE_MS = 4000;

interface Servers {
  server: Server;
  emptyServer: Server;
  numbers: Examples;
}

const test = base.extend<object, Servers>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires the pattern
    async ({}, use) => {
      mkdirSync(DATA, { recursive: true });
      const server = new Server(DATA);
      await server.start();
      await use(server);
      await server.kill();
    },
    { scope: 'worker' },
  ],
  emptyServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires the pattern
    async ({}, use) => {
      const server = new Server();
      await server.start();
      await use(server);
      await server.remove();
    },
    { scope: 'worker' },
  ],
  numbers: [
    async ({ server }, use) => use(await prepareExamples(server)),
    { scope: 'worker', timeout: 600_000 },
  ],
});

async function cancelActive(server: Server) {
  const { runs } = await server.call<{ runs: { number: number; status: string }[] }>(
    'GET',
    '/runs?limit=200',
  );
  const { studies } = await server.call<{ studies: { number: number; status: string }[] }>(
    'GET',
    '/studies',
  );
  const isActive = ({ status }: { status: string }) =>
    !/done|failed|cancelled|interrupted/.test(status);
  for (const { number } of studies.filter(isActive))
    await server.call('POST', `/studies/${number}/cancel`).catch(() => null);
  for (const { number } of runs.filter(isActive))
    await server.call('POST', `/runs/${number}/cancel`).catch(() => null);
}

async function show(page: Page, view: View, server: Server, numbers: Examples) {
  const path = view.start
    ? await view.start(server)
    : typeof view.path === 'string'
      ? view.path
      : view.path(numbers);
  if (view.on !== 'signed out') await server.authenticate(page);
  await page.goto(server.url + path);
  // Playwright does not count live runs' WebSockets as network activity.
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(SETTLE_MS);
  await view.open?.(page);
  if (view.open) await page.waitForTimeout(OPEN_MS);
  if (!view.isServerGone) return;
  await server.kill();
  await page.waitForTimeout(SERVER_GONE_MS);
}

for (const view of VIEWS)
  test(view.name, async ({ page, server, emptyServer, numbers }) => {
    const shown = view.on === 'empty server' ? emptyServer : server;
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    try {
      await show(page, view, shown, numbers);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      const path = join(IMAGES, `${view.name}-${test.info().project.name}.png`);
      await page.screenshot({ path, fullPage: !view.isWindow });
      expect.soft(overflow, 'horizontal scrolling').toBeLessThanOrEqual(0);
      expect.soft(errors, 'errors in the page').toEqual([]);
    } finally {
      if (view.isServerGone) await shown.start();
      if (view.start) await cancelActive(shown);
    }
  });
