// Eight runs side by side.
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
    const narrowest = await gauges
      .locator('.gauge')
      .evaluateAll((all) => Math.min(...all.map((one) => one.getBoundingClientRect().width)));
    expect(narrowest, 'width of a gauge, whose text scales').toBeGreaterThan(210);
  });
