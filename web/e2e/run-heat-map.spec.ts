// Latency heat map: cells on the canvas, and the shared crosshair.
import { expect, shortRun, test } from './server';

test('draws the latencies of each window, and shows them at the crosshair of any chart', async ({
  signedIn: page,
  server,
}) => {
  const number = await server.finish(shortRun('heat', { runtime: '2s' }));
  await page.goto(`${server.url}/runs/${number}`);
  const card = page.locator('.heat-map');
  await card.scrollIntoViewIfNeeded();
  const canvas = card.getByRole('img', { name: /^Latency heat map/ });
  await expect(canvas).toBeVisible();
  const share = () =>
    canvas.evaluate((element) => {
      const { width, height } = element as HTMLCanvasElement;
      const context = (element as HTMLCanvasElement).getContext('2d');
      const { data } = context?.getImageData(0, 0, width, height) ?? { data: [] };
      let filled = 0;
      for (let i = 3; i < data.length; i += 4) if ((data[i] ?? 0) > 20) filled += 1;
      return filled / (width * height);
    });
  await expect.poll(share).toBeGreaterThan(0.05);
  expect(await share()).toBeLessThan(0.9);
  const legend = card.locator('.legend b');
  await expect(legend).toBeEmpty();
  const box = await canvas.boundingBox();
  if (!box) throw new Error('no bounding box');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await expect(legend).toHaveText(/^[\d,]+ I\/Os? from .+ to .+/);
  // The plots have the same edges, so a time is at the same distance from the left in all charts.
  const distances = await page.locator('.chart .canvas:has(.crosshair)').evaluateAll((all) =>
    all.map((one) => {
      const line = one.querySelector('.crosshair')?.getBoundingClientRect();
      return (line?.x ?? 0) - one.getBoundingClientRect().x;
    }),
  );
  expect(distances).toHaveLength(7);
  expect(Math.max(...distances) - Math.min(...distances)).toBeLessThanOrEqual(1);
  const iops = page.locator('.chart', { hasText: 'IOPS' }).first().locator('.legend b').first();
  const atCrosshair = await iops.textContent();
  await page.mouse.move(box.x + box.width / 2, box.y - 40);
  await expect(legend).toBeEmpty();
  await expect(iops).not.toHaveText(atCrosshair ?? '');
});
