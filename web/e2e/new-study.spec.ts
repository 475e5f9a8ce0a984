// Study form: filled in from a run, used by mouse and by keyboard, with errors next to the field.
import type { Page } from '@playwright/test';
import { findViolations } from './axe';
import { expect, test } from './server';

const JOB =
  '[first]\nfilename=own-$study.data\nrw=randread\nbs=4k\niodepth=4\ndirect=1\nsize=8m\nruntime=1s\ntime_based\n';
const names = (page: Page) => page.getByRole('textbox', { name: /^Step \d+ name/ });
const order = (page: Page) =>
  names(page).evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value));

/** Opens the form with `JOB` and turns it into a study. */
async function begin(page: Page, url: string) {
  await page.goto(`${url}/new`);
  await page.getByRole('textbox', { name: 'Job file' }).fill(JOB);
  await page.getByRole('button', { name: 'Convert to study' }).click();
  await expect(page.getByRole('heading', { name: 'New study' })).toBeVisible();
  await expect(page.getByRole('textbox', { name: 'Job file' })).toHaveValue(JOB);
}

test('builds a study from a run, shows errors next to the field, and starts it', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(90_000);
  await begin(page, server.url);
  await page.getByRole('textbox', { name: 'Step 1 name' }).fill('bypassing the cache');
  await page.getByRole('textbox', { name: 'Note for step 1' }).fill('Measures the disk.');
  await page.getByRole('button', { name: 'Duplicate step 1' }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('from memory');
  await page.getByText('Buffered file').click();
  await page.getByText('Warm', { exact: true }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'cache warm' })).toContainText(
    'randread 4k × 4 buffered',
  );

  const size = page.getByRole('combobox', { name: /Block size/ });
  await size.fill('3x');
  await expect(page.getByRole('listitem').filter({ hasText: '1 problem' })).toContainText('3x');
  await expect(size).toHaveAttribute('aria-invalid', 'true');
  const start = page.getByRole('button', { name: 'Start', exact: true });
  await expect(start).toHaveAttribute('aria-disabled', 'true');
  await page.getByRole('radio', { name: 'Edit step 1' }).check();
  await expect(size).toHaveValue('4k');
  await page.getByRole('status').getByRole('button', { name: 'step 2' }).click();
  await expect(page.getByRole('radio', { name: 'Edit step 2' })).toBeChecked();
  await size.fill('8k');
  await expect(start).toHaveAttribute('aria-disabled', 'false');

  await page.getByRole('textbox', { name: 'Study name' }).fill('custom study');
  await expect(page.getByText(/^2 steps, about/)).toBeVisible();
  await start.click();
  await expect(page).toHaveURL(/\/studies\/\d+$/);
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 60_000 });
  const steps = page.getByRole('region', { name: 'Steps, scrollable' });
  await expect(steps.getByRole('row', { name: /^1 · bypassing the cache/ })).toContainText(
    'Device',
  );
  await expect(steps.getByRole('row', { name: /^2 · from memory/ })).toContainText('Page cache');
  await expect(steps.getByRole('row', { name: /^1 · bypassing the cache/ })).toContainText(
    'Measures the disk.',
  );

  // Editing the study fills the form with it, and edits survive a reload.
  await page.getByRole('link', { name: 'Edit and rerun' }).click();
  await expect(page).toHaveURL(/new\?study=1$/);
  await expect.poll(() => order(page)).toEqual(['bypassing the cache', 'from memory']);
  await expect(page.getByRole('textbox', { name: 'Study name' })).toHaveValue('custom study');
  await expect(page.getByRole('textbox', { name: 'Job file' })).toHaveValue(
    /filename=own-\$study\.data/,
  );
  const note = page.getByRole('textbox', { name: 'Note for step 1' });
  await expect(note).toHaveValue('Measures the disk.');
  await note.fill('Updated note.');
  await page.reload();
  await expect(note).toHaveValue('Updated note.');
  await expect(start).toHaveAttribute('aria-disabled', 'false');
});

test('builds a study by keyboard', async ({ signedIn: page, server }) => {
  await begin(page, server.url);
  await names(page).first().focus();
  await page.keyboard.type('a');
  await page.getByRole('button', { name: 'Add step' }).press('Enter');
  await page.keyboard.type('b');
  await page.getByRole('button', { name: 'Duplicate step 2' }).press('Enter');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('c');
  expect(await order(page)).toEqual(['a', 'b', 'c']);
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Alt+ArrowUp');
  await expect.poll(() => order(page)).toEqual(['c', 'a', 'b']);
  await expect(names(page).first()).toBeFocused();
  const down = page.getByRole('button', { name: 'Move down step 1' });
  await down.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Move down step 2' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect.poll(() => order(page)).toEqual(['a', 'b', 'c']);
  await page.getByRole('button', { name: 'Remove step 2' }).press('Enter');
  await expect.poll(() => order(page)).toEqual(['a', 'c']);
  // The draft survives a reload, and a run can be added to it.
  await page.reload();
  await expect.poll(() => order(page)).toEqual(['a', 'c']);
  await page.getByRole('link', { name: 'Single run' }).click();
  await page.getByRole('button', { name: 'Add to study (2)' }).click();
  await expect.poll(() => order(page)).toEqual(['a', 'c', '']);
  await page.getByRole('button', { name: 'Start over' }).click();
  await expect.poll(() => order(page)).toEqual(['']);
});

for (const theme of ['dark', 'light'] as const)
  test(`no accessibility violations, ${theme}`, async ({ signedIn: page, server }) => {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await begin(page, server.url);
    await page.getByRole('button', { name: 'Duplicate step 1' }).click();
    await page.getByRole('combobox', { name: /Block size/ }).fill('3x');
    await expect(page.getByText('1 problem')).toBeVisible();
    await page.waitForTimeout(500);
    const violations = await findViolations(page);
    expect(violations).toEqual([]);
  });
