// Run page details: pausing, phases, crosshair, limits, fonts, and printing.
import type { Page } from '@playwright/test';
import { expect, shortRun, test } from './server';
import { loadZoom } from './zoom';

const phase = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Phases' }).getByRole('listitem').filter({ hasText: name });

test('a live run can be paused, and a cancelled run shows an incomplete measurement', async ({
  signedIn: page,
  server,
}) => {
  const run = shortRun('stopped', { runtime: '50s' });
  const { number } = await server.call<{ number: number }>('POST', '/runs', run);
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page.getByText(/^mean \d/)).toBeVisible();
  const dot = await page.locator('.badge .dot').first().boundingBox();
  expect([dot?.width, dot?.height], 'size of the status dot').toEqual([7, 7]);
  const pause = page.getByRole('button', { name: 'Pause' });
  await expect(pause).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('Cancelled', { exact: true }).first()).toBeVisible();
  await expect(phase(page, 'Measure')).toHaveText(/^✕ Measure .*, not completed$/);
  await expect(phase(page, 'Guard')).toHaveText(/^✓/);
  await expect(pause).toHaveCount(0);
});

test('a chart paused during a run can be resumed after the run ends', async ({
  signedIn: page,
  server,
}) => {
  const run = shortRun('paused', { runtime: '50s' });
  const { number } = await server.call<{ number: number }>('POST', '/runs', run);
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible();
  await page.keyboard.press('p');
  await expect(page.getByRole('button', { name: 'Resume' })).toBeVisible();
  await server.call('POST', `/runs/${number}/cancel`);
  const status = async () =>
    (await server.call<{ status: string }>('GET', `/runs/${number}`)).status;
  await expect.poll(status, { timeout: 20_000 }).toBe('cancelled');
  await page.keyboard.press('p');
  await expect(page.getByRole('button', { name: /^(Pause|Resume)$/ })).toHaveCount(0);
});

test('a queued run shows its estimated start and its plan, and no empty charts', async ({
  signedIn: page,
  server,
}) => {
  const run = shortRun('ahead', { runtime: '50s' });
  const ahead = await server.call<{ number: number }>('POST', '/runs', run);
  const queued = await server.call<{ number: number }>('POST', '/runs', shortRun('behind'));
  await page.goto(`${server.url}/runs/${queued.number}`);
  await expect(page.getByText(`Position 1: waiting for #${ahead.number}`)).toBeVisible();
  await expect(page.getByText(/^Estimated start: in about \d+\ss\.$/)).toBeVisible();
  await expect(page.getByText(/^Performance of .* random reads/)).toBeVisible();
  await expect(page.locator('.chart, .gauge')).toHaveCount(0);
  await server.call('POST', `/runs/${ahead.number}/cancel`);
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 40_000 });
  await expect(page.getByRole('img', { name: /^IOPS over time/ })).toBeVisible();
});

test('the crosshair appears on all charts and does not redraw them', async ({
  signedIn: page,
  server,
}) => {
  const number = await server.finish(shortRun('crosshair', { runtime: '2s' }));
  await page.goto(`${server.url}/runs/${number}`);
  const canvas = page.getByRole('img', { name: /^IOPS over time/ });
  await expect(canvas).toBeVisible();
  await expect(page.locator('.heat-map canvas')).toBeVisible();
  await loadZoom(page);
  await page.waitForTimeout(500);
  await page.evaluate(() => {
    const counted = { draws: 0 };
    Object.assign(window, { counted });
    const { clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...area) {
      counted.draws += 1;
      clearRect.apply(this, area);
    };
  });
  const box = await canvas.boundingBox();
  if (!box) throw new Error('no bounding box');
  const middle = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.4, middle);
  await page.mouse.move(box.x + box.width * 0.6, middle, { steps: 10 });
  const lines = page.locator('.crosshair');
  const charts = await lines.count();
  expect(charts).toBeGreaterThan(5);
  await expect(page.locator('.crosshair:visible')).toHaveCount(charts);
  const line = await lines.first().boundingBox();
  expect(Math.abs((line?.x ?? 0) - (box.x + box.width * 0.6))).toBeLessThanOrEqual(1);
  const draws = () =>
    page.evaluate(() => (window as unknown as { counted: { draws: number } }).counted.draws);
  expect(await draws()).toBe(0);
  await page.mouse.move(5, 5);
  await expect(page.locator('.crosshair:visible')).toHaveCount(0);
});

test('the legend shows the dirty memory limits', async ({ signedIn: page, server }) => {
  const options = { rw: 'write', direct: 0, ioengine: 'psync' };
  const number = await server.finish(shortRun('limits', options));
  await page.goto(`${server.url}/runs/${number}`);
  const memory = page.locator('section.chart', {
    has: page.getByRole('img', { name: /^Host page cache/ }),
  });
  await expect(memory.locator('.legend')).toContainText(/Background writeback [\d.]+\s[KMG]iB/);
  await expect(memory.locator('.legend')).toContainText(
    /Dirty limit \(writers throttled\) [\d.]+\s[KMG]iB/,
  );
});

test('a hyphen is narrower than a digit', async ({ signedIn: page }) => {
  const width = (text: string) =>
    page.evaluate(async (text) => {
      await document.fonts.ready;
      const element = document.createElement('span');
      element.textContent = text.repeat(20);
      document.body.append(element);
      const { width } = element.getBoundingClientRect();
      element.remove();
      return width;
    }, text);
  expect(await width('1')).toBe(await width('0'));
  expect(await width('-')).toBeLessThan((await width('0')) * 0.9);
});

for (const path of ['/runs', '/new', '/compare?runs=1,2', '/devices', '/runs/1'])
  test(`${path} fits on a sheet of paper`, async ({ signedIn: page, server }) => {
    const { runs } = await server.call<{ runs: object[] }>('GET', '/runs');
    for (let missing = runs.length; missing < 2; missing += 1)
      await server.finish(shortRun('printed', { runtime: '300ms' }));
    // The printable area of A4 at 96 dpi.
    await page.setViewportSize({ width: 718, height: 1047 });
    await page.goto(server.url + path);
    await expect(page.locator('main')).toContainText(/\w/);
    await page.waitForTimeout(1000);
    await page.emulateMedia({ media: 'print' });
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll('main, main *')]
        .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
        .map((element) => `${element.tagName}.${element.getAttribute('class')}`),
    );
    expect(cut).toEqual([]);
    await expect(page.locator('main .mantine-Button-root:visible')).toHaveCount(0);
  });
