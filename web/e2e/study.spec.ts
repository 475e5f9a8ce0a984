// Studies: started from an experiment, viewed live, and compared with published results.
import { findViolations } from './axe';
import { expect, shortRun, test } from './server';

/** A study with two short steps; `change` sets options in both. */
const short = (name: string, change: object = {}) => ({
  name,
  about: 'The same job twice.',
  missed_by_author: 'The second run is served from memory.',
  published: {
    source: 'a paper',
    columns: ['test', 'IOPS'],
    rows: [{ step: 2, cells: ['second', '853,333'] }],
  },
  steps: [
    { name: 'bypassing the cache', jobs: shortRun('', change).jobs },
    {
      name: 'from memory',
      note: 'The file is read into the page cache first.',
      jobs: shortRun('', { direct: 0, pre_read: 1, invalidate: 0, ioengine: 'psync', ...change })
        .jobs,
    },
  ],
});

test('an experiment shows its plan, starts with one click, and shows its steps', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(180_000);
  await page.goto(`${server.url}/new`);
  const cards = page.getByRole('region', { name: 'Experiments' });
  await expect(cards.getByRole('button', { name: 'Run', exact: true })).toHaveCount(5);
  const readahead = cards.locator('section', {
    has: page.getByRole('heading', { name: 'Readahead' }),
  });
  await readahead.getByRole('heading', { name: 'Readahead' }).click();
  await expect(readahead.getByText(/2 steps.*writes/)).toBeVisible();
  await expect(readahead.getByRole('region', { name: /Published results/ })).toContainText('4,156');
  await readahead.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page).toHaveURL(/\/studies\/\d+$/);
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 120_000 });

  const steps = page.getByRole('region', { name: 'Steps, scrollable' });
  await expect(steps.getByRole('row', { name: /^1 / })).toContainText(
    /Device.*IOPS through readahead/,
  );
  await expect(steps.getByRole('row', { name: /^2 / })).toContainText(/Device.*IOPS reached/);
  await expect(steps.getByRole('row', { name: /^1 / })).toContainText('4,156');
  await expect(page.getByRole('img', { name: /^Depth gauge/ })).toHaveCount(2);
  await expect(page.getByRole('img', { name: /^IOPS over time/ })).toBeVisible();
  await page.getByRole('link', { name: 'Compare runs' }).click();
  await expect(page).toHaveURL(/compare\?runs=\d+,\d+/);
});

test('shows a live study and cancels it', async ({ signedIn: page, server }) => {
  const study = await server.call<{ number: number }>(
    'POST',
    '/studies',
    short('long', { runtime: '20s' }),
  );
  await page.goto(`${server.url}/studies/${study.number}`);
  const gauge = page.getByRole('img', { name: /^Depth gauge/ });
  await expect(gauge).toHaveAccessibleName(/I\/Os issued/, { timeout: 20_000 });
  const before = await gauge.getAttribute('aria-label');
  await expect.poll(() => gauge.getAttribute('aria-label')).not.toBe(before);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByText('Cancelled', { exact: true }).first()).toBeVisible();
  await expect(page.getByText('2 of 2 runs')).toBeVisible();
});

test('renames a study with its runs, and deletes both', async ({ signedIn: page, server }) => {
  const { number } = await server.call<{ number: number }>(
    'POST',
    '/studies',
    short('former', { runtime: '200ms' }),
  );
  await page.goto(`${server.url}/studies/${number}`);
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 30_000 });
  const name = page.getByRole('textbox', { name: 'Study name' });
  await name.fill('renamed');
  await name.press('Enter');
  await expect(page).toHaveTitle(new RegExp(`^Study #${number} renamed`));
  await page.goto(`${server.url}/runs?q=renamed`);
  await expect(page.getByText('2 matches')).toBeVisible();
  await page.goto(`${server.url}/studies/${number}`);
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: `Delete study #${number}` }).click();
  await expect(page).toHaveURL(/\/studies$/);
  await expect(page.getByRole('link', { name: /renamed/ })).toHaveCount(0);
  await page.goto(`${server.url}/runs?q=renamed`);
  await expect(page.getByText('No matching runs')).toBeVisible();
});

test('charts end with the longest run, and gauges use the chart line styles', async ({
  signedIn: page,
  server,
}) => {
  const study = { ...short('styled', { runtime: '300ms' }), repeats: 2, idle_wait_seconds: 0 };
  const { number } = await server.call<{ number: number }>('POST', '/studies', study);
  const status = async () =>
    (await server.call<{ status: string }>('GET', `/studies/${number}`)).status;
  await expect.poll(status, { timeout: 60_000 }).toBe('done');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(`${server.url}/studies/${number}`);
  const chart = page.locator('section.chart', {
    has: page.getByRole('img', { name: /^IOPS over time/ }),
  });
  await expect(chart).toBeVisible();
  for (const [step, name] of ['bypassing the cache', 'from memory'].entries()) {
    const gauge = page.locator('.step-gauges > .card').nth(step);
    await expect(gauge).toContainText(name);
    const line = chart.getByRole('button', { name: `${name} (2 runs)`, exact: true });
    const style = await line.locator('path').evaluate(({ outerHTML }) => outerHTML);
    expect(await gauge.locator('.legend path').evaluate(({ outerHTML }) => outerHTML)).toBe(style);
  }
  // The first series is the dark one, and must extend into the last quarter of the chart.
  const dark = () =>
    chart.getByRole('img').evaluate((element) => {
      const { width, height } = element as HTMLCanvasElement;
      const from = Math.round(width * 0.75);
      const context = (element as HTMLCanvasElement).getContext('2d');
      const { data } = context?.getImageData(from, 0, width - from, height) ?? { data: [] };
      let count = 0;
      for (let i = 0; i < data.length; i += 4)
        if ((data[i + 3] ?? 0) > 200 && (data[i] ?? 255) < 50 && (data[i + 1] ?? 255) < 60)
          count += 1;
      return count;
    });
  await expect.poll(dark).toBeGreaterThan(10);
});

for (const theme of ['dark', 'light'] as const)
  test(`no accessibility violations in list and page, ${theme}`, async ({
    signedIn: page,
    server,
  }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    const { number } = await server.call<{ number: number }>(
      'POST',
      '/studies',
      short(`a study, ${theme}`),
    );
    await expect
      .poll(
        async () => (await server.call<{ status: string }>('GET', `/studies/${number}`)).status,
        { timeout: 60_000 },
      )
      .toBe('done');
    for (const [path, ready] of [
      ['/studies', `#${number} a study, ${theme}`],
      [`/studies/${number}`, 'The second run is served from memory.'],
    ] as const) {
      await page.goto(server.url + path);
      await expect(page.getByText(ready)).toBeVisible();
      await page.waitForTimeout(700);
      const violations = await findViolations(page);
      expect(violations).toEqual([]);
    }
  });
