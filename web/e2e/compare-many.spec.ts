// Comparisons of eight runs, and bands that show each group's range.
import { findViolations, overflow } from './axe';
import { expect, shortRun, test } from './server';

for (const width of [1440, 1024])
  test(`all gauges of eight runs are visible, ${width} px`, async ({ signedIn: page, server }) => {
    const { runs } = await server.call<{ runs: { number: number; status: string }[] }>(
      'GET',
      '/runs?q=name:eight',
    );
    const numbers = runs.map(({ number }) => number);
    while (numbers.length < 8)
      numbers.push(await server.finish(shortRun('eight', { runtime: '200ms' })));
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${server.url}/compare?runs=${numbers.slice(0, 8).join()}`);
    const gauges = page.getByRole('region', { name: /^Depth gauges/ });
    await expect(gauges.getByRole('img', { name: /^Depth gauge/ })).toHaveCount(8);
    const hidden = await gauges.evaluate(
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
    );
    expect(hidden).toBeLessThanOrEqual(0);
    const sizes = await gauges.locator('.gauge text').evaluateAll((all) =>
      all.map((one) => {
        const scale = (one as SVGTextElement).getScreenCTM()?.a ?? 0;
        return scale * Number.parseFloat(getComputedStyle(one).fontSize);
      }),
    );
    expect(Math.min(...sizes), 'font size in pixels').toBeGreaterThan(10);
  });

test('groups are shown as a median and a band', async ({ signedIn: page, server }) => {
  test.setTimeout(120_000);
  const step = (name: string, change: object) => ({
    name,
    jobs: shortRun('', { runtime: '500ms', ...change }).jobs,
  });
  const { number } = await server.call<{ number: number }>('POST', '/studies', {
    name: 'bands',
    repeats: 3,
    order: 'interleaved',
    idle_wait_seconds: 0,
    steps: [step('one', {}), step('paused', { thinktime: '200us' })],
  });
  const status = async () =>
    (await server.call<{ status: string }>('GET', `/studies/${number}`)).status;
  await expect.poll(status, { timeout: 90_000 }).toBe('done');
  await page.goto(`${server.url}/compare?a=study:${number}/step:1&b=study:${number}/step:2`);
  const charts = page.getByRole('region', { name: 'Time series of all runs' });
  const chart = charts.getByRole('img', { name: 'IOPS over time' });
  await expect(chart).toHaveAccessibleDescription(
    /^one \(3 runs\): median .*, runs .*; paused \(3 runs\): median .*, runs /,
  );
  await expect(charts.getByText('from the lowest to the highest run')).toBeVisible();
  const legend = charts.getByRole('button', { name: 'paused (3 runs)' }).first();
  await expect(legend).toContainText(/\d/);
  await legend.click();
  await expect(legend).toHaveAttribute('aria-pressed', 'false');
  await chart.hover();
  await expect(charts.locator('.crosshair:visible')).toHaveCount(3);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findViolations(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 800 });
  await expect.poll(() => overflow(page)).toBe(0);
});
