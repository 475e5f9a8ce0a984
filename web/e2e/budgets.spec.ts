// Performance budgets: bytes and requests of the first load, layout shifts, and main-thread work.
// The first load does not include menus, dialogs and zooming, which are loaded on the first
// interaction. The first screen is complete when the key metrics are visible.
import type { Browser, CDPSession, Page } from '@playwright/test';
import { expect, type Server, shortRun, test } from './server';

test.use({ history: 'budgets' });

/** Kilobytes transferred with an empty cache, including fonts and API responses. */
const MAX_KB = { runs: 192, 'run: first screen': 198, run: 267 };
const MAX_REQUESTS = { runs: 19, 'run: first screen': 17, run: 25 };
/** Cumulative layout shift. */
const MAX_SHIFT = 0.02;
/**
 * CPU time of the main thread while a page loads, relative to a fixed amount of work in an empty
 * page (`referenceWork`). The ratio does not depend on the host's speed or load.
 */
const MAX_WORK = { runs: 10, run: 20 };
/** Maximum draws per chart while a finished run loads. */
const MAX_DRAWS = 3;

interface Request {
  url: string;
  kind: string;
  /** Compressed bytes, as transferred. */
  bytes: number;
}

interface Load {
  page: Page;
  requests: readonly Request[];
  /** CPU time of the main thread, relative to the reference workload. */
  work: number;
}

interface RecordedMetrics {
  shift: number;
  shifted: string[];
  draws: number;
  /** Time at which the first screen was complete, according to the page's clock. */
  shown_ms: number | null;
}

/** CPU time used so far by the page's main thread, in milliseconds. */
async function cpuTime(client: CDPSession): Promise<number> {
  const { metrics } = await client.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
}

/** Reference workload for an empty page: script, style and layout for 4,000 elements. */
function referenceWork() {
  for (let round = 0; round < 4; round += 1) {
    const list = document.createElement('div');
    for (let i = 0; i < 1000; i += 1) {
      const row = document.createElement('p');
      row.textContent = String(Math.sqrt(i));
      list.append(row);
    }
    document.documentElement.append(list);
    list.getBoundingClientRect();
    list.remove();
  }
}

/** Opens a page in a new browser context with an empty cache, and waits until `isLoaded`. */
async function load(
  browser: Browser,
  server: Server,
  path: string,
  isLoaded: (page: Page) => Promise<void>,
): Promise<Load> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const { path: link } = await server.call<{ path: string }>('POST', '/login-links');
  const page = await context.newPage();
  const ticket = new URL(server.url + link).searchParams.get('ticket');
  await page.request.post(`${server.url}/login`, {
    data: { ticket },
    headers: { origin: server.url },
  });
  await page.addInitScript(observe);
  // Start the renderer process before the first measurement.
  await page.goto(`${server.url}/lead.svg`);
  const client = await context.newCDPSession(page);
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  await client.send('Network.enable');
  await client.send('Network.setCacheDisabled', { cacheDisabled: true });
  const requests = new Map<string, Request>();
  client.on('Network.responseReceived', ({ requestId, type, response }) =>
    requests.set(requestId, { url: response.url, kind: type, bytes: 0 }),
  );
  client.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const request = requests.get(requestId);
    if (request) request.bytes = encodedDataLength;
  });
  const begin_ms = await cpuTime(client);
  await page.goto(server.url + path);
  await expect(page.getByText(/\d running/)).toBeVisible();
  await isLoaded(page);
  await page.waitForTimeout(1500);
  const used_ms = (await cpuTime(client)) - begin_ms;
  const loaded = [...requests.values()];
  return { page, requests: loaded, work: used_ms / (await referenceTime(browser)) };
}

/** CPU time of the reference workload, in milliseconds. */
async function referenceTime(browser: Browser): Promise<number> {
  const page = await browser.newPage();
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', { timeDomain: 'threadTicks' });
  const begin_ms = await cpuTime(client);
  await page.evaluate(referenceWork);
  const used_ms = (await cpuTime(client)) - begin_ms;
  await page.close();
  return used_ms;
}

/** Injected into the page to record layout shifts, canvas draws, and the first screen. */
function observe() {
  const recorded: RecordedMetrics = { shift: 0, shifted: [], draws: 0, shown_ms: null };
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
  // Chart.js clears a canvas before each drawing.
  const { clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...area) {
    recorded.draws += 1;
    clearRect.apply(this, area);
  };
  new MutationObserver((_, observer) => {
    const isShown =
      /\d/.test(document.querySelector('.tile b')?.textContent ?? '') &&
      document.querySelector('.notice .title') !== null;
    if (!isShown) return;
    recorded.shown_ms = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

const readRecorded = (page: Page) =>
  page.evaluate(() => (window as unknown as { recorded: RecordedMetrics }).recorded);

const annotate = (type: string, description: string) =>
  test.info().annotations.push({ type, description });

/** Checks the layout shifts so far, and closes the page. */
async function finish(page: Page, name: string) {
  const { shift, shifted } = await readRecorded(page);
  annotate(name, `shift ${shift.toFixed(4)}`);
  expect(shift, `${name}: layout shifts\n${shifted.join('\n')}`).toBeLessThanOrEqual(MAX_SHIFT);
  await page.context().close();
}

function checkTransfer(requests: readonly Request[], name: keyof typeof MAX_KB) {
  const kinds = new Map<string, number>();
  for (const { kind, bytes } of requests) kinds.set(kind, (kinds.get(kind) ?? 0) + bytes);
  const total = [...kinds.values()].reduce((sum, size) => sum + size, 0) / 1000;
  const parts = [...kinds].map(([kind, size]) => `${kind} ${(size / 1000).toFixed(1)} kB`);
  const sum = `${total.toFixed(1)} kB in ${requests.length} requests: ${parts.join(', ')}`;
  annotate(`${name}: transfer`, sum);
  const each = requests.map(({ url, bytes }) => `${(bytes / 1000).toFixed(1)} kB ${url}`);
  const description = [sum, ...each].join('\n');
  expect(total, description).toBeLessThanOrEqual(MAX_KB[name]);
  expect(requests.length, description).toBeLessThanOrEqual(MAX_REQUESTS[name]);
}

/** Returns the requests that were sent before the key metrics were shown. */
async function firstScreen({ page, requests }: Load): Promise<Request[]> {
  const { shown_ms } = await readRecorded(page);
  if (shown_ms === null) throw new Error('the key metrics were not shown');
  const later = await page.evaluate(
    (shown_ms) =>
      performance
        .getEntriesByType('resource')
        .filter(({ startTime }) => startTime > shown_ms)
        .map(({ name }) => name),
    shown_ms,
  );
  return requests.filter(({ url }) => !later.includes(url));
}

function checkCpuTime({ work }: Load, name: keyof typeof MAX_WORK) {
  annotate(`${name}: work`, `${work.toFixed(1)} references`);
  expect(work, `${name}: CPU time`).toBeLessThanOrEqual(MAX_WORK[name]);
}

test('an empty history', async ({ browser, server }) => {
  const loaded = await load(browser, server, '/runs', async (page) => {
    await expect(page.getByRole('button', { name: /demo/ })).toBeVisible();
    await expect(page.getByRole('img', { name: /^Depth gauge/ })).toHaveCount(2);
  });
  checkTransfer(loaded.requests, 'runs');
  checkCpuTime(loaded, 'runs');
  await finish(loaded.page, 'empty history');
});

test('a run from start to end', async ({ browser, server }) => {
  await server.finish(shortRun('layout'));
  const { number } = await server.call<{ number: number }>(
    'POST',
    '/runs',
    shortRun('live', { runtime: '5s' }),
  );
  const { page } = await load(browser, server, `/runs/${number}`, (page) =>
    expect(page.getByText(/^mean \d/)).toBeVisible(),
  );
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 30_000 });
  await page.waitForTimeout(1500);
  const { draws } = await readRecorded(page);
  const charts = await page.locator('.chart canvas').count();
  const { samples } = await server.call<{ samples: number }>('GET', `/runs/${number}`);
  const description = `${draws} draws of ${charts} charts, ${samples} samples`;
  annotate('live run: draws', description);
  expect(draws, description).toBeLessThanOrEqual(charts * (samples + MAX_DRAWS));
  await finish(page, 'live run');
});

test('a finished run', async ({ browser, server }) => {
  const number = await server.finish(shortRun('finished'));
  const loaded = await load(browser, server, `/runs/${number}`, (page) =>
    expect(page.locator('.chart canvas').first()).toBeVisible(),
  );
  checkTransfer(await firstScreen(loaded), 'run: first screen');
  checkTransfer(loaded.requests, 'run');
  checkCpuTime(loaded, 'run');
  const { draws } = await readRecorded(loaded.page);
  const charts = await loaded.page.locator('.chart canvas').count();
  const description = `${draws} draws of ${charts} charts`;
  annotate('finished run: draws', description);
  expect(draws, description).toBeLessThanOrEqual(charts * MAX_DRAWS);
  await finish(loaded.page, 'finished run');
});
