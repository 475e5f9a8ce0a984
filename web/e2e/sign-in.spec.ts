// Signing in with a link and with the token, and signing out, in a real browser.
import { findViolations } from './axe';
import { expect, test } from './server';

test('a link works once, and signing out ends the session', async ({ server, page, browser }) => {
  const { path } = await server.call<{ path: string }>('POST', '/login-links');
  await page.goto(server.url + path);
  await expect(page).toHaveURL(`${server.url}/runs`);
  await page.reload();
  await expect(page.getByRole('link', { name: 'Leadline' })).toBeVisible();

  const other = await (await browser.newContext()).newPage();
  await other.goto(server.url + path);
  await expect(other.getByText('This link has already been used')).toBeVisible();
  await expect(other.getByRole('textbox', { name: 'Link or token' })).toBeVisible();

  await page.getByRole('button', { name: 'Keyboard shortcuts and help' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { name: 'Sign in to Leadline' })).toBeVisible();
  await page.goto(`${server.url}/runs`);
  await expect(page.getByRole('heading', { name: 'Sign in to Leadline' })).toBeVisible();
});

test('another local server cannot use the cookie', async ({ server, page }) => {
  await server.signIn(page);
  const [cookie] = await page.context().cookies();
  const headers = { authorization: `Bearer ${cookie?.value}` };
  const response = await fetch(`${server.url}/api/v1/runs`, { headers });
  expect(response.status).toBe(401);
});

for (const { name, path, reason } of [
  { name: 'link', path: '/login?ticket=wrong', reason: /already been used or has expired/ },
  { name: 'token', path: '/', reason: /cannot be used to sign in/ },
])
  test(`an invalid ${name} shows the reason and how to get another one`, async ({
    server,
    page,
  }) => {
    await page.goto(server.url + path);
    if (name === 'token') {
      await page.getByRole('textbox', { name: 'Link or token' }).fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
    }
    await expect(page.getByText(reason)).toBeVisible();
    await page.getByRole('link', { name: 'How to get a link or token' }).click();
    const help = page.getByRole('region', { name: 'Get a link or token' });
    await expect(help).toContainText('leadline login');
    await expect(help).toBeInViewport();
    const card = page.locator('.card').first();
    expect(await card.evaluate((element) => getComputedStyle(element).borderRadius)).toBe('10px');
    expect(await findViolations(page)).toEqual([]);
  });
