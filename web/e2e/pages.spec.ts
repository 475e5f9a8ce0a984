// Every page in both themes without a violation of the rules of accessibility, and with a title of its own.
import AxeBuilder from '@axe-core/playwright';
import { expect, shortRun, test } from './server';

const PAGES = [
  { name: 'runs', path: '/runs', ready: /lists/, title: /^Runs/ },
  { name: 'a run', path: '/runs/1', ready: /every setting as resolved/, title: /^#1 / },
  { name: 'new run', path: '/new', ready: /Before it starts/, title: /^New run/ },
  {
    name: 'compare',
    path: '/compare?runs=1,2',
    ready: /Only what differs/,
    title: /^Compare #1, #2/,
  },
  { name: 'compare, choosing', path: '/compare', ready: /Choose 2 to 8 runs/, title: /^Compare/ },
  { name: 'devices', path: '/devices', ready: /Block devices/, title: /^Devices/ },
  { name: 'no such page', path: '/nowhere', ready: /There is no such page/, title: /^Not found/ },
  { name: 'no such run', path: '/runs/9999', ready: /failed/, title: /^Run #9999/ },
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

  test(`the way in, and the help, ${theme}`, async ({ page, server }) => {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.goto(`${server.url}/runs`);
    await expect(
      page.getByRole('heading', { name: 'This browser has no token yet' }),
    ).toBeVisible();
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
    await server.signIn(page);
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog', { name: 'Keys and help' })).toBeVisible();
    await page.waitForTimeout(400);
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  });
}
