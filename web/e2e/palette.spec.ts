// Command palette, operated by keyboard only.
import type { Page } from '@playwright/test';
import { findViolations } from './axe';
import { expect, shortRun, test } from './server';

const field = (page: Page) => page.getByRole('textbox', { name: 'Command' });

/** Opens the palette, types, and presses Enter. Typing selects the first action. */
async function choose(page: Page, text: string, expected: RegExp) {
  await page.keyboard.press('Control+k');
  await expect(field(page)).toBeFocused();
  await page.keyboard.type(text);
  const first = page.locator('.mantine-Spotlight-action').first();
  await expect(first).toContainText(expected);
  await expect(first).toHaveAttribute('data-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(field(page)).toBeHidden();
}

test('opens pages and runs, starts a preset and changes the theme', async ({
  signedIn: page,
  server,
}) => {
  const number = await server.finish(shortRun('needle', { runtime: '300ms' }));
  await server.finish(shortRun('hay', { runtime: '300ms' }));
  await page.goto(`${server.url}/runs`);
  await expect(page.getByRole('table')).toBeVisible();
  await choose(page, 'go devices', /^Devices$/);
  await expect(page).toHaveURL(`${server.url}/devices`);
  await choose(page, 'needle', /needle/);
  await expect(page).toHaveURL(`${server.url}/runs/${number}`);
  await choose(page, String(number + 1), /hay/);
  await expect(page).toHaveURL(`${server.url}/runs/${number + 1}`);
  await choose(page, 'light theme', /^Light theme$/);
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'light');
  await choose(page, 'start one read', /^One read at a time/);
  await expect(page.getByRole('textbox', { name: 'Run name' })).toHaveValue('One read at a time');
  await page.getByRole('button', { name: 'Cancel' }).click();
});

for (const { width, theme } of [
  { width: 1440, theme: 'dark' },
  { width: 1024, theme: 'light' },
  { width: 390, theme: 'dark' },
] as const)
  test(`is accessible at ${width} px, ${theme}`, async ({ signedIn: page }) => {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.keyboard.press('Control+k');
    await expect(
      page.getByText('Change theme', { exact: true }).or(field(page)).first(),
    ).toBeVisible();
    await expect(page.locator('.mantine-Spotlight-action').first()).toBeVisible();
    await page.keyboard.press('ArrowDown');
    const violations = await findViolations(page);
    expect(violations).toEqual([]);
    await page.keyboard.press('Escape');
    await expect(field(page)).toBeHidden();
  });
