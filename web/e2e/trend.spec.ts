// Trend of a repeated test, opened from a run, with a pinned baseline. The list shows the state
// relative to the baseline and updates it after new runs.
import { findViolations, overflow } from './axe';
import { expect, shortRun, test } from './server';

test('shows a trend and the state relative to a pinned baseline', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(120_000);
  // A queue depth that no other test on this server uses.
  const options = { runtime: '200ms', ioengine: 'null', iodepth: 3 };
  const jobs = shortRun('', options).jobs;
  const study = { name: 'Nightly', repeats: 6, steps: [{ name: 'reads', jobs }] };
  const runStudy = async () => {
    const { number } = await server.call<{ number: number }>('POST', '/studies', study);
    const status = async () =>
      (await server.call<{ status: string }>('GET', `/studies/${number}`)).status;
    await expect.poll(status, { timeout: 60_000 }).toBe('done');
    return number;
  };
  await runStudy();
  const { runs } = await server.call<{ runs: { number: number }[] }>('GET', '/runs');
  await page.goto(`${server.url}/runs/${runs[0]?.number}`);
  await page.getByRole('link', { name: 'Trend', exact: true }).click();
  await expect(page.getByText('6 runs in 1 group')).toBeVisible();
  await page.getByRole('button', { name: 'Pin the newest group' }).click();
  await expect(page.getByText('There are no complete runs after the baseline.')).toBeVisible();

  await runStudy();
  await expect(page.getByText('12 runs in 2 groups')).toBeVisible();
  await expect(page.getByText(/read IOPS/).first()).toBeVisible();
  await page.getByRole('link', { name: 'Compare with baseline' }).click();
  await expect(page).toHaveURL(/compare\?a=[\d,]+&b=[\d,]+$/);
  await expect(page.getByRole('button', { name: 'Unpin baseline' })).toBeVisible();
  await page.goBack();

  const chart = page.getByRole('slider', { name: /group$/ });
  await chart.focus();
  await page.keyboard.press('ArrowRight');
  await expect(chart).toHaveAttribute('aria-valuenow', '2');
  await page.keyboard.press('ArrowLeft');
  await expect(chart).toHaveAttribute('aria-valuenow', '1');
  await expect(page).toHaveURL(/run=\d+/);
  await expect(page.getByText('Baseline', { exact: true })).toBeVisible();
  await page.getByLabel('Metric').selectOption({ label: 'p50 latency' });
  await expect(page).toHaveURL(/metric=read_lat_p50_ns/);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await findViolations(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 800 });
  await expect.poll(() => overflow(page)).toBe(0);

  await page.getByRole('link', { name: 'All trends' }).click();
  await expect(page.getByRole('region', { name: 'Trends, scrollable' })).toContainText(
    /Regressed|Improved|Undecided|OK/,
  );
  expect(await findViolations(page)).toEqual([]);
  await page
    .getByRole('link', { name: /short|reads|Nightly/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Unpin' }).click();
  await expect(page.getByText('No baseline')).toBeVisible();
});
