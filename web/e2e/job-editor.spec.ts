// The job file editor: completion of options and values, and help for options.
import type { Page } from '@playwright/test';
import { checkLayouts, violationsOf } from './axe';
import { expect, test } from './server';

const JOB = '[a]\nfilename=a\ndirect=1\nsize=8m\n';

async function open(page: Page, url: string) {
  await page.goto(`${url}/new`);
  const text = page.getByRole('textbox', { name: 'Job file' });
  await text.fill(JOB);
  return { text, list: page.getByRole('listbox', { name: 'Completions' }) };
}

test('completes options and values by keyboard', async ({ signedIn: page, server }) => {
  const { text, list } = await open(page, server.url);
  await expect(list).toBeHidden();
  await page.keyboard.type('rw');
  await expect(list.getByRole('option').first()).toContainText(/rw.*default read.*I\/O pattern/s);
  await page.keyboard.type('m');
  await expect(list.getByRole('option')).toHaveText([/^rwmixread/, /^rwmixwrite/]);
  await page.keyboard.press('ArrowDown');
  const selected = list.getByRole('option', { selected: true });
  await expect(selected).toContainText('rwmixwrite');
  const id = await selected.getAttribute('id');
  await expect(text).toHaveAttribute('aria-activedescendant', id ?? 'none');
  await page.keyboard.press('Tab');
  await expect(text).toHaveValue(`${JOB}rwmixwrite=`);
  await expect(list).toBeHidden();
  await page.keyboard.type('30\nrw');
  await page.keyboard.press('Tab');
  await expect(list.getByRole('option').first()).toHaveText(/read.*default/);
  await page.keyboard.type('randr');
  await page.keyboard.press('Enter');
  await expect(text).toHaveValue(`${JOB}rwmixwrite=30\nrw=randread`);
  await expect(list).toBeHidden();
  await expect(page.getByRole('combobox', { name: /Pattern/ })).toHaveValue('randread');
});

test('completes by mouse or Ctrl+Space, and can be closed', async ({ signedIn: page, server }) => {
  const { text, list } = await open(page, server.url);
  await page.keyboard.press('Control+Space');
  await expect(list.getByRole('option', { name: /^iodepth / })).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(list).toBeHidden();
  await page.keyboard.type('ioe');
  await list.getByRole('option', { name: /^ioengine / }).click();
  await list.getByRole('option', { name: 'libaio' }).click();
  await expect(text).toHaveValue(`${JOB}ioengine=libaio`);
  await expect(text).toBeFocused();
  await page.keyboard.press('Control+Z');
  await expect(text).toHaveValue(`${JOB}ioengine=`);
  // `time_based` does not require a value, and Tab leaves the text when no list is open.
  await text.fill(JOB);
  await page.keyboard.type('time_based\nbs=4k');
  await expect(text).toHaveValue(`${JOB}time_based\nbs=4k`);
  await page.keyboard.press('Tab');
  await expect(text).not.toBeFocused();
});

test('explains the option at the cursor and under the pointer', async ({
  signedIn: page,
  server,
}) => {
  const { text, list } = await open(page, server.url);
  await expect(text).toHaveAccessibleDescription(/Ctrl\+Space/);
  await page.keyboard.type('ramp_time=2s');
  await expect(text).toHaveAccessibleDescription(/Warm-up time.*Type time \(s\).*Default 0/);
  const tooltip = page.getByRole('tooltip');
  // The third line, `direct=1`.
  await text.hover({ position: { x: 30, y: 9 + 2 * 20 + 10 } });
  await expect(tooltip).toContainText(/direct 1 bypasses the page cache.*Values 1, 0/s);
  await text.hover({ position: { x: 300, y: 9 + 2 * 20 + 10 } });
  await expect(tooltip).toBeHidden();
  await text.hover({ position: { x: 30, y: 9 + 3 * 20 + 10 } });
  await expect(tooltip).toContainText('size');
  await checkLayouts(page, 'job editor', '.job-editor');

  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await text.fill(JOB);
      await page.keyboard.type('rand');
      await expect(list).toBeVisible();
      const layout = `completion, ${width} px, ${colorScheme}`;
      expect.soft(await violationsOf(page), layout).toEqual([]);
      const { x = 0, width: listWidth = 0 } = (await list.boundingBox()) ?? {};
      expect.soft(x, layout).toBeGreaterThanOrEqual(0);
      expect.soft(x + listWidth, layout).toBeLessThanOrEqual(width);
      await page.keyboard.press('Escape');
      await page.mouse.move(0, 0);
      await text.hover({ position: { x: 30, y: 9 + 2 * 20 + 10 } });
      await expect(tooltip).toBeVisible();
      expect.soft(await violationsOf(page), `help, ${layout}`).toEqual([]);
      await page.keyboard.press('Escape');
      await expect(tooltip).toBeHidden();
    }
  }
});
