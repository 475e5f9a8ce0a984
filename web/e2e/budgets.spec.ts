// Budgets of the pages: transferred bytes and requests of the first load, layout shifts and long
// tasks. The first load ends before the first interaction, which loads menus and dialogs.
import type { Browser, Page } from '@playwright/test';
import { expect, type Server, shortRun, test } from './server';

test.use({ history: 'budgets' });

/** Kilobytes on the wire with an empty cache, including fonts and API responses. */
const MAX_KB = { runs: 195, run: 312 };
const MAX_REQUESTS = { runs: 25, run: 36 };
/** Cumulative layout shift. */
const MAX_SHIFT = 0.02;
/** Total time of tasks beyond 50 ms each, in milliseconds, while a page loads on a busy machine. */
const MAX_BLOCKING_MS = 3000;

interface Load {
  page: Page;
  /** Bytes on the wire, by the kind of the resource. */
  bytes: Map<string, number>;
  requests: number;
}

interface Recorded {
  shift: number;
  shifted: string[];
  blocking_ms: number;
}

/** Opens a page in a new browser context, without cache. */
async function load(browser: Browser, server: Server, path: string): Promise<Load> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const { path: link } = await server.call<{ path: string }>('POST', '/login-links');
  const page = await context.newPage();
  const ticket = new URL(server.url + link).searchParams.get('ticket');
  await page.request.post(`${server.url}/login`, {
    data: { ticket },
    headers: { origin: server.url },
  });
  const client = await context.newCDPSession(page);
  await client.send('Network.enable');
  await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  const kinds = new Map<string, string>();
  const bytes = new Map<string, number>();
  client.on('Network.responseReceived', ({ requestId, type }) => kinds.set(requestId, type));
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId) ?? 'Other';
    bytes.set(kind, (bytes.get(kind) ?? 0) + encodedDataLength);
  });
  await page.addInitScript(observe);
  await page.goto(server.url + path);
  await expect(page.getByText(/\d running/)).toBeVisible();
  await page.waitForTimeout(1500);
  return { page, bytes, requests: kinds.size };
}

/** Runs in the page. */
function observe() {
  const recorded: Recorded = { shift: 0, shifted: [], blocking_ms: 0 };
  Object.assign(window, { recorded });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
      sources: { node: Element | null; previousRect: DOMRect; currentRect: DOMRect }[];
    })[]) {
      if (entry.hadRecentInput) continue;
      recorded.shift += entry.value;
      const nodes = entry.sources.map(({ node, previousRect: from, currentRect: to }) => {
        const name = node?.className || node?.nodeName;
        return `${name} (${to.x - from.x}, ${to.y - from.y})`;
      });
      recorded.shifted.push(
        `${entry.value.toFixed(4)} at ${Math.round(entry.startTime)} ms: ${nodes.join(', ')}`,
      );
    }
  }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) recorded.blocking_ms += duration - 50;
  }).observe({ type: 'longtask', buffered: true });
}

const recordedBy = (page: Page) =>
  page.evaluate(() => (window as unknown as { recorded: Recorded }).recorded);

/** Checks the shifts and long tasks until now, and closes the page. */
async function finish(page: Page, name: string) {
  const { shift, shifted, blocking_ms } = await recordedBy(page);
  const description = `shift ${shift.toFixed(4)}, blocking ${Math.round(blocking_ms)} ms`;
  test.info().annotations.push({ type: name, description });
  expect(shift, `${name}: layout shifts\n${shifted.join('\n')}`).toBeLessThanOrEqual(MAX_SHIFT);
  expect(blocking_ms, `${name}: long tasks`).toBeLessThanOrEqual(MAX_BLOCKING_MS);
  await page.context().close();
}

function checkTransfer({ bytes, requests }: Load, name: keyof typeof MAX_KB) {
  const total = [...bytes.values()].reduce((sum, size) => sum + size, 0) / 1000;
  const parts = [...bytes].map(([kind, size]) => `${kind} ${(size / 1000).toFixed(1)} kB`);
  const description = `${total.toFixed(1)} kB in ${requests} requests: ${parts.join(', ')}`;
  test.info().annotations.push({ type: `${name}: transfer`, description });
  expect(total, description).toBeLessThanOrEqual(MAX_KB[name]);
  expect(requests, description).toBeLessThanOrEqual(MAX_REQUESTS[name]);
}

test('an empty history', async ({ browser, server }) => {
  const loaded = await load(browser, server, '/runs');
  await expect(loaded.page.getByRole('button', { name: /demo/ })).toBeVisible();
  checkTransfer(loaded, 'runs');
  await finish(loaded.page, 'empty history');
});

test('a run from its start to its end', async ({ browser, server }) => {
  await server.finish(shortRun('layout'));
  const { number } = await server.call<{ number: number }>(
    'POST',
    '/runs',
    shortRun('live', { runtime: '5s' }),
  );
  const { page } = await load(browser, server, `/runs/${number}`);
  await expect(page.getByText(/^mean \d/)).toBeVisible();
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 30_000 });
  await page.waitForTimeout(1500);
  await finish(page, 'live run');
});

test('a finished run', async ({ browser, server }) => {
  const number = await server.finish(shortRun('finished'));
  const loaded = await load(browser, server, `/runs/${number}`);
  await expect(loaded.page.locator('.chart canvas').first()).toBeVisible();
  await loaded.page.waitForTimeout(1500);
  checkTransfer(loaded, 'run');
  await finish(loaded.page, 'finished run');
});
