import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it, vi } from 'vitest';
import { summaryOf } from '../../model/fixtures/summary';
import { showPage } from '../../test-page';
import type { RunColumn } from './columns';
import RunTable from './table';

/** Numbers of the rendered rows. */
const rendered: number[] = [];
const RUNS = [3, 2, 1].map((number) => summaryOf(number));
const COLUMNS: RunColumn[] = [
  { key: 'number', title: '#', width: 56, cell: ({ number }) => rendered.push(number) },
];
const noop = () => undefined;
const REST = {
  runs: RUNS,
  total: 3,
  columns: COLUMNS,
  sort: 'number',
  order: 'desc',
  onSort: noop,
  onEnd: noop,
} as const;

function Table() {
  const [selected, select] = useState<ReadonlySet<number>>(new Set());
  return <RunTable {...REST} selected={selected} onSelect={select} />;
}

it('rerenders only the selected row', async () => {
  // jsdom has no layout, and a table without a height renders no rows.
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
  showPage(Table, '/table');
  const box = await screen.findByRole('checkbox', { name: 'Select run 2' });
  rendered.length = 0;
  await userEvent.click(box);
  expect(new Set(rendered)).toEqual(new Set([2]));
});
