// Comparisons with a missing run, or with more runs than can be compared.
import { expect, shortRun, test } from './server';

test('a deleted run does not prevent comparing the others', async ({ signedIn: page, server }) => {
  const numbers: number[] = [];
  for (const name of ['one', 'two', 'deleted'])
    numbers.push(await server.finish(shortRun(name, { runtime: '200ms' })));
  const [one, two, deleted] = numbers;
  await page.request.delete(`${server.url}/api/v1/runs/${deleted}`, {
    headers: { origin: server.url },
  });
  await page.goto(`${server.url}/compare?runs=${deleted},${one},${two}&baseline=${deleted}`);
  await expect(page.getByRole('alert')).toContainText(`Run #${deleted} no longer exists.`);
  await expect(page.getByRole('img', { name: /^Depth gauge/ })).toHaveCount(2);
  await page.getByRole('button', { name: 'Set as baseline' }).click();
  await expect(page).toHaveURL(new RegExp(`baseline=${two}`));
  await page.getByRole('button', { name: 'Remove from comparison' }).click();
  await expect(page).toHaveURL(new RegExp(`runs=${one},${two}&`));
  await expect(page.getByRole('alert')).toBeHidden();

  await page.goto(`${server.url}/compare?runs=${one},${two},101,102,103,104,105,106,107`);
  await expect(page.getByText('Run #107 is not compared.')).toBeVisible();
});
