// Wide tables: a cue for hidden columns, and headers that do not wrap.
import { expect, shortRun, test } from './server';

test('a table with hidden columns has a shadow, and its headers are single lines', async ({
  signedIn: page,
  server,
}) => {
  const number = await server.finish(shortRun('wide table', { runtime: '500ms' }));
  await page.setViewportSize({ width: 1024, height: 800 });
  await page.goto(`${server.url}/runs/${number}`);
  await page.getByRole('button', { name: 'Show as table' }).click();
  const region = page.getByRole('region', { name: 'Samples, scrollable' });
  const hidden = await region.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  expect(hidden).toBeGreaterThan(100);
  const attachments = await region.evaluate((one) => getComputedStyle(one).backgroundAttachment);
  expect(attachments).toMatch(/^local, local, scroll, scroll/);

  const headers = region.getByRole('columnheader');
  await expect(headers.filter({ hasText: 'Bandwidth' })).toBeVisible();
  const heights = await headers.evaluateAll((all) =>
    all.map((one) => Math.round(one.getBoundingClientRect().height)),
  );
  expect(Math.max(...heights), 'header height').toBeLessThan(35);
});
