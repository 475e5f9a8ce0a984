import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it, vi } from 'vitest';
import { summaryOf } from '../../model/fixtures/summary';
import { showPage } from '../../test-page';
import type { RunColumn } from './columns';
import { RunTable } from './table';

/** Numbers of the runs whose rows were drawn. */
const drawn: number[] = [];
const RUNS = [3, 2, 1].map((number) => summaryOf(number));
const COLUMNS: RunColumn[] = [
  { key: 'number', title: '#', width: 56, cell: ({ number }) => drawn.push(number) },
];
const nothing = () => undefined;
const REST = {
  runs: RUNS,
  total: 3,
  columns: COLUMNS,
  sort: 'number',
  order: 'desc',
  onSort: nothing,
  onEnd: nothing,
} as const;

function Table() {
  const [selected, select] = useState<ReadonlySet<number>>(new Set());
  return <RunTable {...REST} selected={selected} onSelect={select} />;
}

it('draws only the row anew that was selected', async () => {
  // jsdom lays nothing out: without a height the table would draw no row.
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
  showPage(Table, '/table');
  const box = await screen.findByRole('checkbox', { name: 'Select run 2' });
  drawn.length = 0;
  await userEvent.click(box);
  expect(new Set(drawn)).toEqual(new Set([2]));
});
