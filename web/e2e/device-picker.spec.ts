// Device picker for raw device mode: lists usable devices, collapses unusable ones, and offers a
// loop device.
import { expect, test } from './server';

test('collapses unusable devices, and offers a loop device', async ({ signedIn: page, server }) => {
  const { devices } = await server.call<{
    devices: { name: string; read_access: { allowed: boolean } }[];
  }>('GET', '/hosts/local/devices');
  const unusable = devices.filter(({ read_access }) => !read_access.allowed);
  await page.goto(`${server.url}/new`);
  await page.getByRole('radio', { name: /^Raw device/ }).check();
  const picker = page.getByRole('group', { name: 'Device (filename)' });
  const radios = picker.getByRole('radio');
  await expect(picker.getByRole('button', { name: 'Use a loop device' })).toBeVisible();
  await expect(radios).toHaveCount(devices.length - unusable.length);
  if (unusable.length > 0) {
    await picker.getByText(/unusable devices?$/).click();
    await expect(radios).toHaveCount(devices.length);
    await expect(radios.last()).toBeDisabled();
  }
  await picker.getByRole('button', { name: 'Use a loop device' }).click();
  const text = page.getByRole('textbox', { name: 'Job file' });
  await expect(text).toHaveValue(/loop_device=1/);
  await expect(text).toHaveValue(/direct=1/);
  await expect(text).not.toHaveValue(/\/dev\//);
});

test('prompts for a device before one is chosen, without an error', async ({
  signedIn: page,
  server,
}) => {
  await page.goto(`${server.url}/new`);
  await page.getByRole('radio', { name: /^Raw device/ }).check();
  const status = page.locator('#start-status');
  await expect(status).toHaveText('Choose a device.');
  await expect(page.locator('.error:visible')).toHaveCount(0);
  await expect(page.getByRole('textbox', { name: 'Job file' })).toHaveValue(/filename=\/dev\/\n/);
  await expect(page.getByText(/^line \d/)).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Start', exact: true })).toHaveAttribute(
    'aria-disabled',
    'true',
  );
});
