// Wherever pages show text from a run, hostile text must be rendered as plain text. The fixture
// fails the test if the content security policy is violated.
import { expect, shortRun, test } from './server';

const ATTACK = '<img src=x onerror="window.attacked=1"><script>window.attacked=1</script>';

test('hostile text in names, notes and tags is inert', async ({ signedIn: page, server }) => {
  const hostile = { ...shortRun(ATTACK, { name: ATTACK, filename: 'a<b onload=x>' }) };
  const { number } = await server.call<{ number: number }>('POST', '/runs', {
    ...hostile,
    notes: ATTACK,
    tags: ['<b>tag</b>'],
  });
  const other = await server.finish(shortRun(`${ATTACK} again`));
  await expect
    .poll(async () => (await server.call<{ status: string }>('GET', `/runs/${number}`)).status, {
      timeout: 30_000,
    })
    .toMatch(/done|failed/);
  const paths = ['/', '/runs', `/runs/${number}`, `/compare?runs=${number},${other}`];
  for (const path of [...paths, `/runs?q=${encodeURIComponent(ATTACK)}`]) {
    await page.goto(`${server.url}${path}`);
    await expect(page.getByRole('link', { name: 'Leadline' })).toBeVisible();
    await page.waitForLoadState('networkidle');
    const attacked = await page.evaluate(
      () => 'attacked' in window || document.querySelector('img[src="x"]') !== null,
    );
    expect(attacked, path).toBe(false);
  }
  await page.goto(`${server.url}/runs/${number}`);
  await expect(page.getByText('window.attacked').first()).toBeVisible();
});
