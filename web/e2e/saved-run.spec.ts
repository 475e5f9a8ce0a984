// A run saved as a single HTML file opens without the server.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Run } from '../src/api';
import { findViolations } from './axe';
import { expect, shortRun, test } from './server';

test('a saved run opens offline', async ({ page, server, context }) => {
  const hostile = '</script><script>document.title = "injected"</script>';
  const n = await server.finish(shortRun(`saved ${hostile}`, { direct: 0, pre_read: 1 }));
  await server.signIn(page);
  await page.goto(`${server.url}/runs/${n}`);
  await page.getByRole('button', { name: 'Export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'HTML report' }).click();
  const file = join(server.directory, 'saved.html');
  await (await download).saveAs(file);
  const run = await server.call<Run>('GET', `/runs/${n}`);

  await context.setOffline(true);
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(pathToFileURL(file).href);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('saved </script>');
  await expect(page.getByText(run.verdict?.read?.sentence ?? 'no verdict').first()).toBeVisible();
  await expect(page.locator('canvas').first()).toBeVisible();
  await expect(page.getByText('Depth gauge').first()).toBeVisible();
  await expect(page.getByRole('button', { name: /Rerun|Delete|Cancel|^Export ▾/ })).toHaveCount(0);
  await page.getByRole('button', { name: 'Show as table' }).click();
  await expect(page.getByRole('table').first()).toBeVisible();
  const violations = await findViolations(page);
  expect(violations).toEqual([]);
  expect(requests.filter((url) => !url.startsWith('data:'))).toEqual([pathToFileURL(file).href]);
  expect(errors).toEqual([]);
});
