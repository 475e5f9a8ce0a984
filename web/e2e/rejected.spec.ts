// A rejected job's plan shows no estimates. In raw device mode, a device must be chosen.
import { expect, test } from './server';

test('a rejected job has no plan', async ({ signedIn: page, server }) => {
  await page.goto(`${server.url}/new`);
  const job = page.getByRole('textbox', { name: 'Job file' });
  await expect(page.getByText(/^about/)).toBeVisible();
  await job.fill('[a]\nfilename=../../etc/new\nrw=randwrite\nbs=4k\ndirect=1\nsize=4m\n');
  await expect(page.getByRole('status')).toContainText('outside the target roots');
  await expect(
    page.getByText('The plan appears when the job is complete and has no errors.'),
  ).toBeVisible();
  await expect(page.getByText('0 B for I/O buffers')).toHaveCount(0);
  await expect(page.locator('main')).not.toContainText('mkdir');
});

test('a raw device must be chosen', async ({ signedIn: page, server }) => {
  await page.goto(`${server.url}/new`);
  await page.getByText('Raw device', { exact: true }).click();
  await expect(page.getByRole('status')).toContainText('Choose a device');
  await expect(page.locator('main')).not.toContainText('is a directory');
  await expect(
    page.getByText('The plan appears when the job is complete and has no errors.'),
  ).toBeVisible();
});
