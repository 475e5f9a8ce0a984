// Accessibility rules and document title of every page, in both themes.
import AxeBuilder from '@axe-core/playwright';
import { expect, shortRun, test } from './server';

const PAGES = [
  { name: 'runs', path: '/runs', ready: /lists/, title: /^Runs/ },
  { name: 'a run', path: '/runs/1', ready: /Resolved settings/, title: /^#1 / },
  { name: 'new run', path: '/new', ready: /I\/O path/, title: /^New run/ },
  {
    name: 'compare',
    path: '/compare?runs=1,2',
    ready: /^Differences/,
    title: /^Compare #1, #2/,
  },
  { name: 'compare, selection', path: '/compare', ready: /Select 2 to 8 runs/, title: /^Compare/ },
  { name: 'devices', path: '/devices', ready: /Block devices/, title: /^Devices/ },
  { name: 'schedules', path: '/schedules', ready: /No schedules yet/, title: /^Schedules/ },
  { name: 'settings', path: '/settings', ready: /signed messages/, title: /^Settings/ },
  { name: 'unknown page', path: '/nowhere', ready: /Page not found/, title: /^Not found/ },
  { name: 'unknown run', path: '/runs/9999', ready: /^Error$/, title: /^Run #9999/ },
];

test.beforeAll(async ({ server }) => {
  await server.finish(shortRun('lists, direct'));
  await server.finish(shortRun('lists, buffered', { direct: 0, rw: 'randrw', rwmixread: 70 }));
});

for (const theme of ['dark', 'light'] as const) {
  for (const { name, path, ready, title } of PAGES) {
    test(`${name}, ${theme}`, async ({ signedIn: page, server }) => {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.goto(server.url + path);
      await expect(page.getByText(ready).first()).toBeVisible();
      await expect(page).toHaveTitle(title);
      await page.waitForTimeout(500);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(
        violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`),
      ).toEqual([]);
    });
  }

  test(`sign-in and help, ${theme}`, async ({ page, server }) => {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.goto(`${server.url}/runs`);
    await expect(page.getByRole('heading', { name: 'Sign in to Leadline' })).toBeVisible();
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await server.signIn(page);
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts and help' })).toBeVisible();
    await page.waitForTimeout(400);
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  });
}
