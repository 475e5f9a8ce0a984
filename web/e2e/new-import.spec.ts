// Pasted commands: how they are interpreted, and the run or study that is created from them.
import { findViolations } from './axe';
import { expect, test } from './server';

const COMMAND =
  'fio --name=log --filename=$FILE --rw=write --bs=2300 --size=230k \\\n  --fdatasync=1 --runtime=10sec';

test('a pasted command is explained, corrected, and run', async ({ signedIn: page, server }) => {
  test.setTimeout(90_000);
  await page.goto(`${server.url}/new`);
  await page.getByRole('button', { name: 'Paste a command' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: /fio job file/ }).fill(COMMAND);
  await expect(dialog.getByText(/fio reads `10sec` as 10 µs/)).toBeVisible();
  const use = dialog.getByRole('button', { name: 'Use these jobs' });
  await expect(use).toBeDisabled();
  await dialog.getByRole('button', { name: 'Replace with 10s' }).click();
  await dialog.getByRole('textbox', { name: 'FILE', exact: true }).fill('log.data');
  await expect(use).toBeEnabled();
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    const violations = await findViolations(page);
    expect(violations).toEqual([]);
  }
  await use.click();
  await expect(page.getByRole('textbox', { name: 'Job file' })).toHaveValue(
    /filename=log\.data[\s\S]*ioengine=psync/,
  );
  await page.getByRole('button', { name: 'Start' }).click();
  await expect(page).toHaveURL(/\/runs\/\d+/);
  await expect(page.getByRole('main')).toContainText('Done', { timeout: 30_000 });
});
