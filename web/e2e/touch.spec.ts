// Zooming a chart does not scroll the page. On touch screens, swiping scrolls and pinching zooms.
import type { Page } from '@playwright/test';
import { expect, type Server, shortRun, test } from './server';
import { loadZoom, waitForZoom } from './zoom';

const scrollTop = (page: Page) => page.evaluate(() => scrollY);

/** Waits until scrolling stops, which takes a while after the finger is lifted. */
async function waitForScroll(page: Page) {
  let last = -1;
  await expect
    .poll(
      async () => {
        const previous = last;
        last = await scrollTop(page);
        return last - previous;
      },
      { intervals: [300] },
    )
    .toBe(0);
}

const chartOf = (page: Page) => page.getByRole('img', { name: /^I\/Os in flight over time/ });

async function boxOf(page: Page) {
  const box = await chartOf(page).boundingBox();
  if (!box) throw new Error('the chart has no bounding box');
  return box;
}

/** Opens a finished run, with its fourth chart in view. */
async function openChart(page: Page, server: Server, number: number) {
  await page.goto(`${server.url}/runs/${number}`);
  await expect(chartOf(page)).toBeVisible();
  await loadZoom(page);
  await chartOf(page).evaluate((canvas) => canvas.scrollIntoView({ block: 'center' }));
  await waitForScroll(page);
  return boxOf(page);
}

test('zooming and resetting keep the scroll position', async ({ signedIn: page, server }) => {
  await page.setViewportSize({ width: 1440, height: 600 });
  const box = await openChart(page, server, await server.finish(shortRun('scrolled')));
  const before = await scrollTop(page);
  expect(before).toBeGreaterThan(0);
  await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 90, { steps: 8 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=[\d.]+&to=[\d.]+/);
  await page.waitForTimeout(300);
  expect(await scrollTop(page)).toBe(before);
  await page.keyboard.press('0');
  await expect(page).not.toHaveURL(/from=/);
  await page.waitForTimeout(300);
  expect(await scrollTop(page)).toBe(before);
});

test('on a touch screen, the first interaction can be a pinch', async ({ browser, server }) => {
  const number = await server.finish(shortRun('pinched first'));
  const viewport = { width: 390, height: 800 };
  const context = await browser.newContext({ viewport, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await server.authenticate(page);
  await page.goto(`${server.url}/runs/${number}`);
  await expect(chartOf(page)).toBeAttached();
  // On touch screens, the zoom code is loaded together with the charts.
  await waitForZoom(page);
  await context.close();
});

test('on a touch screen, a swipe scrolls the page and a pinch zooms', async ({
  browser,
  server,
}) => {
  const number = await server.finish(shortRun('touched'));
  const viewport = { width: 390, height: 800 };
  const context = await browser.newContext({ viewport, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await server.signIn(page);
  await openChart(page, server, number);
  const client = await context.newCDPSession(page);
  const before = await scrollTop(page);
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: object[]) =>
    client.send('Input.dispatchTouchEvent', { type, touchPoints } as never);
  const drag = async (...paths: [dx: number, dy: number][][]) => {
    const box = await boxOf(page);
    const x = box.x + box.width / 2;
    const y = box.y + box.height / 2;
    const at = (step: number) =>
      paths.map((path, id) => ({
        x: x + (path[step]?.[0] ?? 0),
        y: y + (path[step]?.[1] ?? 0),
        id,
      }));
    await touch('touchStart', at(0));
    for (let step = 1; step < (paths[0]?.length ?? 0); step += 1) {
      await touch('touchMove', at(step));
      // The browser would merge moves within one frame, and the gesture would not be recognized.
      await page.waitForTimeout(30);
    }
    await touch('touchEnd', []);
    await page.waitForTimeout(300);
  };
  const steps = [0, 1, 2, 3, 4, 5, 6];

  await drag(steps.map((i) => [i * 18, 0]));
  expect(page.url(), 'after a horizontal swipe').not.toContain('from=');
  await drag(steps.map((i) => [0, -i * 30]));
  expect(page.url(), 'after a vertical swipe').not.toContain('from=');
  expect(await scrollTop(page)).toBeGreaterThan(before + 50);

  await waitForScroll(page);
  await page.evaluate((top) => scrollTo({ top, behavior: 'instant' }), before);
  await waitForScroll(page);
  // About one pinch in ten after a swipe is not recognized; the cause is unknown.
  await expect(async () => {
    await drag(
      steps.map((i) => [-20 - i * 10, 0]),
      steps.map((i) => [20 + i * 10, 0]),
    );
    await expect(page).toHaveURL(/from=[\d.-]+&to=[\d.]+/, { timeout: 3000 });
  }).toPass();
  expect(await scrollTop(page)).toBe(before);
  await context.close();
});
