// What pages show while the server is unreachable and after it comes back.
import { expect, Server, shortRun, test } from './server';

test('a page that is not yet loaded waits for the server inside the frame', async ({ page }) => {
  const server = new Server();
  await server.start();
  try {
    await server.finish(shortRun('before'));
    await server.signIn(page);
    const header = page.locator('header.frame');
    await expect(header).toContainText('io_uring');
    await server.kill();
    await expect(header).toContainText('Disconnected');
    await expect(header).toContainText('status unknown');
    await expect(header).not.toContainText('ready');
    await expect(header).not.toContainText('running');
    for (const width of [1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expect(header.getByText('Disconnected')).toBeVisible();
      const scrolled = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(scrolled, `horizontal scrolling at ${width} px`).toBeLessThanOrEqual(width);
      const height = (await header.boundingBox())?.height;
      expect(height, `one row at ${width} px`).toBeLessThan(60);
    }
    await page.setViewportSize({ width: 1440, height: 900 });

    for (const name of ['Studies', 'Trends']) {
      await header.getByRole('link', { name }).click();
      await expect(page.getByRole('alert')).toContainText('The server is not responding');
      await expect(header).toBeVisible();
    }
    await server.start();
    await expect(page.getByRole('heading', { name: 'Trends', exact: true })).toBeVisible();
    await header.getByRole('link', { name: 'Studies' }).click();
    await expect(page.getByRole('heading', { name: 'Studies', exact: true })).toBeVisible();
    await expect(header).toContainText('io_uring');
  } finally {
    await server.remove();
  }
});
