// Common tasks: progress in the tab title, notifications, tags as links, testing a device, and
// exporting charts.
import { readFileSync } from 'node:fs';
import { expect, shortRun, test } from './server';

test('a run in a background tab shows its progress and sends a notification when it ends', async ({
  signedIn: page,
  server,
}) => {
  await page.addInitScript(() => {
    const shown: string[] = [];
    class TestNotification {
      static permission = 'default';
      static async requestPermission() {
        TestNotification.permission = 'granted';
        return 'granted';
      }
      constructor(title: string) {
        shown.push(title);
      }
    }
    Object.assign(window, { Notification: TestNotification, shown, tabHidden: false });
    Object.defineProperty(document, 'hidden', { get: () => Reflect.get(window, 'tabHidden') });
  });
  const { number } = await server.call<{ number: number }>(
    'POST',
    '/runs',
    shortRun('watched', { runtime: '50s' }),
  );
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page).toHaveTitle(new RegExp(`^\\d+ % · #${number} watched · Leadline$`));
  const button = page.getByRole('button', { name: 'Notify when done' });
  await button.click();
  await expect(button).toBeHidden();
  await page.evaluate(() => Object.assign(window, { tabHidden: true }));
  // Shorter runs do not show a notification when they end.
  await page.waitForTimeout(5500);
  await server.call('POST', `/runs/${number}/cancel`);
  await expect(page).toHaveTitle(new RegExp(`^Cancelled · #${number} watched`));
  expect(await page.evaluate(() => Reflect.get(window, 'shown'))).toEqual([
    `Cancelled: #${number} watched`,
  ]);
  await page.evaluate(() => {
    Object.assign(window, { tabHidden: false });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await expect(page).toHaveTitle(`#${number} watched · Leadline`);
});

test('a tag links to its runs, and can be removed from all selected runs', async ({
  signedIn: page,
  server,
}) => {
  const run = { ...shortRun('tagged', { runtime: '200ms' }), tags: ['before update', 'disk'] };
  await server.finish(run);
  await server.finish(run);
  await page.goto(`${server.url}/runs`);
  await page.getByRole('link', { name: 'before update' }).first().click();
  await expect(page).toHaveURL(/\/runs\?q=tag:%22before/);
  await expect(page.getByText('2 matches')).toBeVisible();
  await page.getByRole('checkbox', { name: /^Select all/ }).check();
  await page.getByRole('button', { name: 'Tag…' }).click();
  await page.getByRole('textbox', { name: 'Tag' }).fill('before update');
  await page.getByRole('button', { name: 'Remove tag' }).click();
  await expect(page.getByText('No matching runs')).toBeVisible();
  const { runs } = await server.call<{ runs: { tags: string[] }[] }>('GET', '/runs?q=tag:disk');
  expect(runs.map(({ tags }) => tags)).toEqual([['disk'], ['disk']]);
});

test('a device is tested from the device list', async ({ signedIn: page, server }) => {
  const access = (allowed: boolean) => ({ allowed, reason: allowed ? null : 'in use' });
  const device = (name: string, usable: boolean) => ({
    name,
    path: `/dev/${name}`,
    dev: '1:1',
    kind: 'disk',
    links: [],
    size_bytes: 1 << 30,
    read_only: false,
    mounts: [],
    used_by: [],
    parents: [],
    read_access: access(usable),
    write_access: access(false),
  });
  await page.route('**/api/v1/hosts/local/devices*', (route) =>
    route.fulfill({
      json: { devices: [device('sdk', false), device('sd10', true), device('sd2', true)] },
    }),
  );
  await page.goto(`${server.url}/devices`);
  const names = page.locator('.device-table tbody th button');
  await expect(names).toHaveText([/sd2$/, /sd10$/]);
  await page.getByRole('button', { name: 'Show 1 unusable device' }).click();
  await expect(names).toHaveText([/sd2$/, /sd10$/, /sdk$/]);
  await expect(page.getByRole('button', { name: 'Test sdk' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Test sd10' }).click();
  await expect(page.getByRole('radio', { name: /^Raw device/ })).toBeChecked();
  await expect(page.getByRole('textbox', { name: 'Job file' })).toHaveValue(
    /filename=\/dev\/sd10\nrw=randread/,
  );
});

test('a chart is saved as PNG, and its data is copied', async ({
  signedIn: page,
  server,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const number = await server.finish(shortRun('exported'));
  await page.goto(`${server.url}/runs/${number}`);
  const menu = page.getByRole('button', { name: 'Chart options: IOPS' });
  await menu.click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Save as PNG' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('iops.png');
  const png = readFileSync(await download.path());
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect(png.length).toBeGreaterThan(5000);
  await menu.click();
  await page.getByRole('menuitem', { name: 'Copy data' }).click();
  await expect(page.getByText('Data copied')).toBeVisible();
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
  const { samples } = await server.call<{ samples: number }>('GET', `/runs/${number}`);
  expect(lines[0]).toBe('seconds\tApplication\tDevice reads\tDevice writes');
  expect(lines).toHaveLength(samples + 1);
  expect(Number(lines.at(-2)?.split('\t')[1])).toBeGreaterThan(0);
});

test('a run prints on few pages', async ({ signedIn: page, server }) => {
  const number = await server.finish(shortRun('printed'));
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page.locator('.chart canvas').first()).toBeVisible();
  const pdf = (await page.pdf({ format: 'A4', printBackground: true })).toString('latin1');
  const pages = pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  expect(pages).toBeGreaterThan(0);
  expect(pages).toBeLessThanOrEqual(2);
});
