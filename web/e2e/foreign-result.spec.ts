// fio results: imported from a file or as text, marked as imported, and compared with a run.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findViolations } from './axe';
import { expect, shortRun, test } from './server';

const JOB = ['--name=lab', '--rw=randread', '--bs=4k', '--size=1m', '--ioengine=psync'];

/** Runs fio in the directory and returns its output. */
const fio = (directory: string, ...options: string[]) =>
  execFileSync('fio', [...JOB, '--filename=fio.data', '--output-format=json+', ...options], {
    cwd: directory,
    encoding: 'utf8',
  });

test('a fio result becomes a run marked as imported', async ({ signedIn: page, server }) => {
  const text = fio(server.directory);
  const file = join(server.directory, 'result.json');
  writeFileSync(file, text);
  await page.goto(`${server.url}/runs`);
  // Use only the keyboard for the button, the file, and the import.
  const open = page.getByRole('button', { name: 'Import fio result' });
  await open.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  const submit = dialog.getByRole('button', { name: 'Import', exact: true });
  await expect(submit).toBeDisabled();
  await expect(dialog.getByLabel('File')).toBeFocused();
  await dialog.getByLabel('File').setInputFiles(file);
  await expect(submit).toBeEnabled();
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findViolations(page)).toEqual([]);
  }
  await submit.focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/runs\/\d+/);
  const main = page.getByRole('main');
  await expect(main.getByText('fio result', { exact: true })).toBeVisible();
  await expect(main).toContainText('fio results contain no samples');
  await expect(main).toContainText('Leadline did not observe this run');
  await expect(main.getByRole('button', { name: /^Rerun/ })).toHaveCount(0);
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findViolations(page)).toEqual([]);
  }
  const { pathname } = new URL(page.url());

  // Importing the same result again opens the same run.
  await page.goto(`${server.url}/runs?q=source:fio`);
  await expect(page.getByRole('table').getByText('fio', { exact: true })).toBeVisible();
  await open.click();
  await dialog.getByRole('textbox').fill(`fio: a warning\n${text}`);
  await submit.click();
  await expect(page).toHaveURL(new RegExp(`${pathname}$`));

  // The imported run's jobs can be imported as a job file, with notes.
  await page.getByRole('link', { name: 'Run these jobs here' }).click();
  await expect(dialog.getByRole('textbox', { name: /fio job file/ })).toHaveValue(/\[lab\]/);
});

test('explains why the text is not a fio result', async ({ signedIn: page, server }) => {
  await page.goto(`${server.url}/runs`);
  await page.getByRole('button', { name: 'Import fio result' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('3;fio-3.33;lab;0;0');
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(dialog).toContainText("fio's terse output");
  const sequential = fio(server.directory, '--name=next', '--stonewall', '--rw=read', '--size=1m');
  await dialog.getByRole('textbox').fill(sequential);
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await dialog.getByLabel('Group').fill('2');
  await dialog.getByRole('button', { name: 'Import group 2' }).click();
  await expect(page).toHaveURL(/\/runs\/\d+/);
  await expect(page.getByLabel('Run name')).toHaveValue('next');
});

test('a result is imported and compared on a phone', async ({ signedIn: page, server }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const run = await server.finish(
    shortRun('ours', { direct: 0, rw: 'randread', ioengine: 'psync' }),
  );
  await page.goto(`${server.url}/runs`);
  await page.getByRole('button', { name: 'Import fio result' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill(fio(server.directory));
  const submit = dialog.getByRole('button', { name: 'Import', exact: true });
  const box = await submit.boundingBox();
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(390);
  await submit.click();
  await expect(page).toHaveURL(/\/runs\/\d+/);
  const imported = new URL(page.url()).pathname.split('/').at(-1);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(390);
  await page.goto(`${server.url}/compare?runs=${run},${imported}`);
  await expect(page.getByRole('main')).toContainText(/Leadline \/ fio/);
});
