// Filter and keyboard in the run list.
import { expect, shortRun, test } from './server';

let alpha = 0;
let beta = 0;
test.beforeAll(async ({ server }) => {
  alpha = await server.finish(shortRun('alpha', { runtime: '200ms' }));
  beta = await server.finish(shortRun('beta', { runtime: '200ms', bs: '64k', iodepth: 29 }));
});

test('filters by number, block size, queue depth and target', async ({
  signedIn: page,
  server,
}) => {
  await page.goto(`${server.url}/runs`);
  const filter = page.getByRole('searchbox', { name: 'Filter runs' });
  for (const q of [
    `#${beta}`,
    'bs:64k name:beta',
    'iodepth:29',
    '-bs:4k target:short iodepth:29',
  ]) {
    await filter.fill(q);
    await expect(page.getByText('1 match'), q).toBeVisible();
    await expect(page.getByRole('link', { name: 'beta' })).toBeVisible();
    await filter.fill('');
    await expect(page.getByRole('link', { name: 'alpha' })).toBeVisible();
  }
  await filter.fill('blocksize:64k');
  const alert = page.getByRole('alert');
  await expect(alert).toContainText('Unknown filter key `blocksize`.');
  await expect(alert).toContainText('Use rw, bs,');
  await filter.fill('"blocksize:64k"');
  await expect(page.getByText('No matching runs')).toBeVisible();
});

test('Escape keeps the filter; arrow keys and x select runs', async ({
  signedIn: page,
  server,
}) => {
  await page.goto(`${server.url}/runs`);
  await expect(page.getByRole('link', { name: 'alpha' })).toBeVisible();
  await page.keyboard.press('/');
  await page.keyboard.type(`#${alpha},${beta}`);
  await expect(page).toHaveURL(/q=/);
  await page.keyboard.press('Escape');
  const filter = page.getByRole('searchbox', { name: 'Filter runs' });
  await expect(filter).not.toBeFocused();
  await page.waitForTimeout(400);
  await expect(filter).toHaveValue(`#${alpha},${beta}`);

  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('link', { name: 'beta' })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('link', { name: 'alpha' })).toBeFocused();
  await page.keyboard.press('x');
  await expect(page.getByRole('checkbox', { name: `Select run ${alpha}` })).toBeChecked();
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('link', { name: 'beta' })).toBeFocused();

  const all = page.getByRole('checkbox', { name: 'Select all 2 loaded runs' });
  await all.check();
  await expect(page.getByText('2 selected')).toBeVisible();
  await all.uncheck();
  await expect(page.getByText('2 selected')).toBeHidden();
  await page.keyboard.press('/');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`runs/${beta}$`));
});

for (const width of [1440, 390])
  test(`repeat numbers stay visible after long names, ${width} px`, async ({
    signedIn: page,
    server,
  }) => {
    const name = `a study whose name is too long to show, ${width}`;
    const jobs = shortRun('', { ioengine: 'null', runtime: '100ms' }).jobs;
    const steps = [{ name: 'a step whose name is also too long to show', jobs }];
    const study = { name, repeats: 3, steps };
    const { number } = await server.call<{ number: number }>('POST', '/studies', study);
    const status = async () =>
      (await server.call<{ status: string }>('GET', `/studies/${number}`)).status;
    await expect.poll(status, { timeout: 30_000 }).toBe('done');
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${server.url}/runs?q="${encodeURIComponent(name)}"`);
    const links = page.getByRole('link', { name: /\(\d\)$/ });
    await expect(links).toHaveCount(3);
    const visible = await links.evaluateAll((elements) =>
      elements.map((element) => {
        const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        let last: Node | null = null;
        while (nodes.nextNode()) last = nodes.currentNode;
        if (!last) return null;
        const range = document.createRange();
        range.selectNodeContents(last);
        const text = last.textContent ?? '';
        range.setStart(last, Math.max(0, text.length - 3));
        const { right } = range.getBoundingClientRect();
        for (let box: Element | null = last.parentElement; box; box = box.parentElement)
          if (box.getBoundingClientRect().right < right - 0.5) return null;
        return range.toString();
      }),
    );
    expect(visible.toSorted()).toEqual(['(1)', '(2)', '(3)']);
  });
