// Schedules and webhooks: they are created with a preview, listed, and kept across a restart.
import { findViolations } from './axe';
import { expect, shortRun, test } from './server';

test('creates a schedule with a preview, and creates and tests a webhook', async ({
  signedIn: page,
  server,
}) => {
  const run = await server.finish(shortRun('nightly'));
  await page.goto(`${server.url}/schedules`);
  await page.getByRole('button', { name: 'New schedule' }).click();
  await page.getByLabel('Name').fill('Every night');
  await page.getByLabel('Time zone').fill('Europe/Berlin');
  await page.getByLabel('Quiet hours from').fill('08:00');
  await page.getByLabel('Quiet hours to').fill('18:00');
  await page.getByLabel('Run number').fill(String(run));
  await page.getByRole('button', { name: 'Copy jobs of run' }).click();
  await expect(page.getByText(/02:30 \+0[12]:00/)).toHaveCount(5);
  const expression = page.getByLabel('Cron expression');
  await expression.fill('0 12 * * *');
  await expect(page.getByText(/All due times are within quiet hours/)).toBeVisible();
  await expression.fill('0 12,20 * * *');
  await expect(page.getByText(/quiet hours, skipped/).first()).toBeVisible();
  await expression.fill('61 * * * *');
  await expect(page.getByText(/The minute "61" is invalid/)).toBeVisible();
  await expression.fill('30 2 * * *');
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Create schedule' }).click();
  await expect(page.getByRole('list', { name: 'Next due times' })).toBeVisible();
  await expect(page.getByText(/02:30 \+0[12]:00/)).toHaveCount(3);

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Add webhook' }).click();
  await page.getByLabel('Name').fill('Chat');
  // No service listens on this port.
  await page.getByLabel('URL').fill('http://127.0.0.1:1/hook');
  await page.getByRole('button', { name: 'Add webhook' }).click();
  await page.getByRole('button', { name: 'Send test' }).click();
  await expect(page.getByText(/cannot connect/)).toBeVisible({ timeout: 15_000 });
  expect(await findViolations(page)).toEqual([]);

  await server.kill();
  await server.start();
  await page.goto(`${server.url}/schedules`);
  await expect(page.getByRole('heading', { name: 'Every night' })).toBeVisible();
  page.on('dialog', (dialog) => dialog.accept());
  await page.getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No schedules yet')).toBeVisible();
});
