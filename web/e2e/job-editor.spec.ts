// Job file editor: completion of options and values, and help for options.
import type { Page } from '@playwright/test';
import { checkLayouts, findViolations } from './axe';
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
  // `time_based` needs no value. When no list is open, Tab moves focus out of the editor.
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
  const { text } = await open(page, server.url);
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
});

test('completion and help fit in all widths and themes', async ({ signedIn: page, server }) => {
  const { text, list } = await open(page, server.url);
  const tooltip = page.getByRole('tooltip');
  for (const width of [390, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await text.fill(JOB);
      await page.keyboard.type('rand');
      await expect(list).toBeVisible();
      const layout = `completion, ${width} px, ${colorScheme}`;
      expect.soft(await findViolations(page), layout).toEqual([]);
      const { x = 0, width: listWidth = 0 } = (await list.boundingBox()) ?? {};
      expect.soft(x, layout).toBeGreaterThanOrEqual(0);
      expect.soft(x + listWidth, layout).toBeLessThanOrEqual(width);
      await page.keyboard.press('Escape');
      await page.mouse.move(0, 0);
      await text.hover({ position: { x: 30, y: 9 + 2 * 20 + 10 } });
      await expect(tooltip).toBeVisible();
      expect.soft(await findViolations(page), `help, ${layout}`).toEqual([]);
      await page.keyboard.press('Escape');
      await expect(tooltip).toBeHidden();
    }
  }
});

const LONG = Array.from({ length: 60 }, (_, job) =>
  [`[job${job}]`, ...JOB.split('\n').slice(1, -1), ...Array(29).fill('; why')].join('\n'),
).join('\n');

test('a long job file and its form stay in sync', async ({ signedIn: page, server }) => {
  const { text } = await open(page, server.url);
  // Insert the text in one step, because `fill` would insert the lines one by one.
  await text.evaluate((area: HTMLTextAreaElement, value) => {
    area.select();
    area.setRangeText(value);
    area.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }, LONG);
  expect(LONG.split('\n').length).toBeGreaterThan(1900);
  // The text scrolls within the editor, which fits in the window.
  const editor = page.locator('.editor');
  const height = page.viewportSize()?.height ?? 0;
  expect((await editor.boundingBox())?.height).toBeLessThan(height);
  const scrollTop = () => editor.evaluate((element) => element.scrollTop);
  await text.press('Control+End');
  await expect.poll(scrollTop).toBeGreaterThan(30_000);
  await text.press('Control+Home');
  await expect.poll(scrollTop).toBeLessThan(100);
  const job = page.getByRole('combobox', { name: 'Job to edit' });
  await expect(job).toHaveValue('0');
  await job.selectOption('job31');
  const size = page.getByRole('combobox', { name: 'Size', exact: true });
  await size.fill('16m');
  const heading = LONG.indexOf('[job31]');
  const edited = LONG.slice(0, heading) + LONG.slice(heading).replace('size=8m', 'size=16m');
  await expect(text).toHaveValue(edited);
  await text.evaluate((area: HTMLTextAreaElement, end) => {
    area.focus();
    area.setSelectionRange(end, end);
  }, edited.indexOf('size=16m') + 8);
  await page.keyboard.type('0\nnumjobs=3 ; 2 is not enough');
  await expect(size).toHaveValue('16m0');
  await expect(page.getByRole('combobox', { name: /numjobs/ })).toHaveValue('3');
  await expect(text).toHaveValue(
    edited.replace('size=16m', 'size=16m0\nnumjobs=3 ; 2 is not enough'),
  );
});

test('starts the text as typed, without a pause', async ({ signedIn: page, server }) => {
  await open(page, server.url);
  await page.keyboard.type('rw=randread\nbs=4k\nruntime=1s\ntime_based\nnumjobs=3');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page).toHaveURL(/\/runs\/\d+/);
  const number = Number(/\d+$/.exec(page.url())?.[0]);
  const { requested } = await server.call<{ requested: object }>('GET', `/runs/${number}`);
  expect(requested).toMatchObject({
    jobs: [{ name: 'a', filename: 'a', rw: 'randread', bs: '4k', runtime: '1s', numjobs: '3' }],
  });
});

test('undo reverts typing and updates the form', async ({ signedIn: page, server }) => {
  const { text } = await open(page, server.url);
  const runtime = page.getByRole('combobox', { name: 'Runtime', exact: true });
  const typed = 'runtime=10s';
  await page.keyboard.type(typed);
  await expect(runtime).toHaveValue('10s');
  // Chromium undoes typing character by character if the page changes after each character.
  for (let step = 0; step < typed.length && (await text.inputValue()) !== JOB; step += 1)
    await page.keyboard.press('Control+Z');
  await expect(text).toHaveValue(JOB);
  await expect(runtime).toHaveValue('');
  for (let step = 0; step < typed.length; step += 1) await page.keyboard.press('Control+Shift+Z');
  await expect(text).toHaveValue(`${JOB}${typed}`);
  await expect(runtime).toHaveValue('10s');
});

test('shows errors, and can be edited and left by keyboard', async ({ signedIn: page, server }) => {
  const { text, list } = await open(page, server.url);
  const editor = page.locator('.job-editor');
  await page.keyboard.type('block_size=4k\nrw=randread\nno option\n');
  await expect(editor.getByRole('listitem')).toContainText([/line 7.*neither option=value/]);
  await expect(text).toHaveAttribute('aria-invalid', 'true');
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect.soft(await findViolations(page), `errors, ${colorScheme}`).toEqual([]);
  }
  await page.keyboard.press('Shift+Tab');
  await expect(editor.getByRole('button', { name: 'Copy' })).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(text).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(editor.getByRole('button', { name: 'line 7' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(text).toBeFocused();
  await page.keyboard.type('numjobs=1');
  await expect(editor.getByRole('listitem')).toContainText([/line 5.*block_size/]);
  await editor.getByRole('button', { name: 'line 5' }).press('Enter');
  await page.keyboard.type('iod');
  await expect(list).toBeVisible();
  // Tab would accept the selected item, so close the list with Escape first.
  await page.keyboard.press('Escape');
  await expect(list).toBeHidden();
  await page.keyboard.press('Tab');
  await expect(text).not.toBeFocused();
});
