// Saved views of the run list.
import { expect, shortRun, test } from './server';

test('a filter, an order and columns are saved, opened and deleted as a view', async ({
  signedIn: page,
  server,
}) => {
  await server.finish(shortRun('viewed read', { runtime: '300ms' }));
  await server.finish(shortRun('viewed write', { runtime: '300ms', rw: 'randwrite' }));
  await page.goto(`${server.url}/runs?q=rw:randwrite+viewed&sort=iops&order=asc`);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Host' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save view…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Saved views' });
  await dialog.getByRole('textbox').fill('slow writes');
  await dialog.getByRole('button', { name: 'Save view' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('button', { name: 'View: slow writes' })).toBeVisible();
  const link = page.url();
  expect(link).toMatch(/columns=number,name.*host/);

  await page.goto(`${server.url}/runs`);
  await expect(page.getByRole('link', { name: 'viewed read' })).toBeVisible();
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'slow writes' }).click();
  await expect(page).toHaveURL(link);
  await expect(page.getByRole('link', { name: 'viewed write' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'viewed read' })).toHaveCount(0);
  await expect(page.getByRole('columnheader', { name: 'IOPS' })).toHaveAttribute(
    'aria-sort',
    'ascending',
  );

  await page.getByRole('button', { name: 'View: slow writes' }).click();
  await page.getByRole('menuitem', { name: 'Save or delete views…' }).click();
  await dialog.getByRole('button', { name: 'Delete view slow writes' }).click();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Views' })).toBeVisible();
});

test('a link shows the columns of a view in another browser', async ({
  signedIn: page,
  server,
}) => {
  await server.finish(shortRun('linked', { runtime: '300ms' }));
  await page.goto(`${server.url}/runs?columns=name,max`);
  await expect(page.getByRole('columnheader')).toHaveText(['', 'Name', 'Max']);
});
