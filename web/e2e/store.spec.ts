// After the server's database has been moved away, pages show that results cannot be stored.
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { findViolations } from './axe';
import { expect, shortRun, test } from './server';

test('reports a missing database until it is restored', async ({ signedIn: page, server }) => {
  const run = await server.finish(shortRun('stored'));
  const database = join(server.directory, 'leadline.db');
  const aside = join(server.directory, 'aside.db');
  const notice = page.getByRole('alert').filter({ hasText: 'Results cannot be stored' });
  await page.goto(`${server.url}/runs/${run}`);
  await expect(page.getByText('Resolved settings')).toBeVisible();
  await expect(notice).toBeHidden();
  renameSync(database, aside);
  await expect(notice).toContainText('was deleted or replaced');
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.waitForTimeout(300);
      const overflow = await page.evaluate(() => document.body.scrollWidth > innerWidth);
      expect(overflow, `horizontal scrolling at ${width} px`).toBe(false);
    }
    expect(await findViolations(page)).toEqual([]);
  }
  renameSync(aside, database);
  await expect(notice).toBeHidden();
});
