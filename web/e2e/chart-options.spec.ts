// Chart options: hidden lines, scale, and annotations.
import type { Page } from '@playwright/test';
import { expect, shortRun, test } from './server';

const chart = (page: Page, title: string) =>
  page.locator('section.chart', {
    has: page.getByRole('img', { name: new RegExp(`^${title}( \\(log\\))? over time`) }),
  });

/** The rendered image of the chart with this title. */
const renderedImage = (page: Page, title: string) =>
  chart(page, title)
    .locator('canvas')
    .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());

test('lines are hidden and shown, and the scale changes', async ({ signedIn: page, server }) => {
  const number = await server.finish(shortRun('lines'));
  await page.goto(`${server.url}/runs/${number}`);
  const latency = chart(page, 'Latency');
  const max = latency.getByRole('button', { name: 'Max', exact: true });
  await expect(max).toHaveAttribute('aria-pressed', 'true');
  const all = await renderedImage(page, 'Latency');
  await max.click();
  await expect(max).toHaveAttribute('aria-pressed', 'false');
  await page.mouse.move(0, 0);
  await expect.poll(() => renderedImage(page, 'Latency')).not.toBe(all);
  await max.press('Enter');
  await expect.poll(() => renderedImage(page, 'Latency')).toBe(all);

  const iops = chart(page, 'IOPS');
  await iops.getByRole('button', { name: 'Chart options: IOPS' }).click();
  const log = page.getByRole('menuitemcheckbox', { name: 'Logarithmic scale' });
  await expect(log).toHaveAttribute('aria-checked', 'false');
  await log.click();
  await expect(log).toHaveAttribute('aria-checked', 'true');
  await page.keyboard.press('Escape');
  await expect(iops.getByRole('heading')).toContainText('IOPS (log)');
  await expect(iops.getByRole('img')).toHaveAccessibleName(/^IOPS \(log\) over time/);
});

test('adds and deletes an annotation', async ({ signedIn: page, server }) => {
  const number = await server.finish(shortRun('annotated'));
  await page.goto(`${server.url}/runs/${number}`);
  const canvas = chart(page, 'IOPS').getByRole('img');
  await expect(canvas).toBeVisible();
  await page.keyboard.press('a');
  const dialog = page.getByRole('dialog', { name: 'Add annotation' });
  await dialog.getByRole('textbox', { name: 'Text' }).fill('caches dropped');
  await dialog.getByRole('spinbutton').fill('0.4');
  await dialog.getByRole('button', { name: 'Add annotation' }).click();
  await expect(dialog).toBeHidden();
  await expect(canvas).toHaveAccessibleName(/; Annotation 1 at 0\.4 s: caches dropped/);
  const note = page.getByRole('listitem').filter({ hasText: 'caches dropped' });
  await expect(note).toContainText('0.4 s');
  const saved = await server.call<{ annotations: { text: string }[] }>('GET', `/runs/${number}`);
  expect(saved.annotations).toMatchObject([{ text: 'caches dropped' }]);
  await note.getByRole('button', { name: 'Delete annotation: caches dropped' }).click();
  await expect(note).toHaveCount(0);
  await expect(canvas).not.toHaveAccessibleName(/Annotation/);
});
