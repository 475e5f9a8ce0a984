// Checks every page's title, and checks the page for accessibility violations in both themes and at
// three widths.
import { checkLayouts } from './axe';
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
  { name: 'studies', path: '/studies', ready: /^Studies$/, title: /^Studies/ },
  { name: 'trends', path: '/trends', ready: /^Trends$/, title: /^Trends/ },
  { name: 'devices', path: '/devices', ready: /Block devices/, title: /^Devices/ },
  { name: 'schedules', path: '/schedules', ready: /No schedules yet/, title: /^Schedules/ },
  { name: 'settings', path: '/settings', ready: /signed messages/, title: /^Settings/ },
  { name: 'unknown page', path: '/nowhere', ready: /Page not found/, title: /^Not found/ },
  { name: 'unknown run', path: '/runs/9999', ready: /^Error$/, title: /^Run #9999/ },
];

test.use({ history: 'pages' });

test.beforeAll(async ({ server }) => {
  await server.finish(shortRun('lists, direct'));
  await server.finish(shortRun('lists, buffered', { direct: 0, rw: 'randrw', rwmixread: 70 }));
});

test('titles and accessibility of all pages', async ({ signedIn: page, server }) => {
  test.setTimeout(240_000);
  for (const { name, path, ready, title } of PAGES) {
    await page.goto(server.url + path);
    await expect(page.locator('main').getByText(ready).first()).toBeVisible();
    await expect(page).toHaveTitle(title);
    await checkLayouts(page, name);
  }
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts and help' })).toBeVisible();
  await checkLayouts(page, 'help', '[role="dialog"]');
});

test('the sign-in page is accessible', async ({ page, server }) => {
  await page.goto(`${server.url}/runs`);
  await expect(page.getByRole('heading', { name: 'Sign in to Leadline' })).toBeVisible();
  await checkLayouts(page, 'sign-in');
});
