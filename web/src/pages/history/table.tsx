// The table of runs. Only the rows that can be seen exist; the spaces above and below keep the scroll bar honest about
// those that were loaded, and the end asks for more.
import { Checkbox } from '@mantine/core';
import { useCallbackRef } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type MouseEvent, memo, useEffect, useRef } from 'react';
import type { RunSort, RunSummary, SortOrder } from '../../api';
import type { RunColumn } from './columns';

/** Height of a row in pixels. */
const ROW = 29;
/** Rows that are drawn beyond what can be seen, so that quick scrolling meets no gap. */
const OVERSCAN = 12;

interface RunTableProps {
  runs: readonly RunSummary[];
  total: number;
  columns: readonly RunColumn[];
  sort: RunSort;
  order: SortOrder;
  onSort: (sort: RunSort) => void;
  selected: ReadonlySet<number>;
  onSelect: (selected: ReadonlySet<number>) => void;
  /** The last loaded row came near. */
  onEnd: () => void;
}

/** The table. */
export function RunTable({
  runs,
  total,
  columns,
  sort,
  order,
  onSort,
  selected,
  onSelect,
  onEnd,
}: RunTableProps) {
  const scroller = useRef<HTMLElement>(null);
  /** Number of the run that was chosen last: rows move while runs come and go. */
  const anchor = useRef<number | null>(null);
  const virtual = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: OVERSCAN,
  });
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  useEffect(() => {
    if (last && last.index >= runs.length - OVERSCAN) onEnd();
  }, [last, runs.length, onEnd]);

  // The same at every rendering, so that only rows that changed are drawn anew.
  const select = useCallbackRef((index: number, extend: boolean) => {
    const anchored = extend ? runs.findIndex(({ number }) => number === anchor.current) : -1;
    const from = anchored < 0 ? index : anchored;
    const numbers = runs
      .slice(Math.min(from, index), Math.max(from, index) + 1)
      .map((run) => run.number);
    const on = !selected.has(runs[index]?.number ?? -1);
    const next = new Set(selected);
    for (const number of numbers) on ? next.add(number) : next.delete(number);
    anchor.current = runs[index]?.number ?? null;
    onSelect(next);
  });

  return (
    <section
      ref={scroller}
      className="card run-table"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
      tabIndex={0}
      aria-label="List of runs, scrollable"
    >
      <table aria-rowcount={total + 1}>
        <colgroup>
          <col style={{ width: 30 }} />
          {columns.map(({ key, width }) => (
            <col key={key} style={width ? { width } : { minWidth: 160 }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <th>
              <span className="hidden">select</span>
            </th>
            {columns.map((column) => (
              <HeadCell
                key={column.key}
                column={column}
                sorted={column.sort === sort ? order : null}
                onSort={onSort}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          <Space height={first?.start ?? 0} />
          {items.map(({ index }) => {
            const run = runs[index];
            return (
              run && (
                <RunRow
                  key={run.number}
                  run={run}
                  index={index}
                  columns={columns}
                  selected={selected.has(run.number)}
                  onSelect={select}
                />
              )
            );
          })}
          <Space height={virtual.getTotalSize() - (last?.end ?? 0)} />
        </tbody>
      </table>
    </section>
  );
}

function Space({ height }: { height: number }) {
  return height > 0 ? <tr aria-hidden style={{ height }} /> : null;
}

function HeadCell({
  column,
  sorted,
  onSort,
}: {
  column: RunColumn;
  sorted: SortOrder | null;
  onSort: (sort: RunSort) => void;
}) {
  const { title, numeric, sort } = column;
  const aria = sorted === 'asc' ? 'ascending' : sorted === 'desc' ? 'descending' : undefined;
  return (
    <th scope="col" aria-sort={aria} className={numeric ? 'numeric' : ''}>
      {sort ? (
        <button type="button" onClick={() => onSort(sort)}>
          {title}
          {sorted && (sorted === 'asc' ? ' ↑' : ' ↓')}
        </button>
      ) : (
        title
      )}
    </th>
  );
}

interface RunRowProps {
  run: RunSummary;
  index: number;
  columns: readonly RunColumn[];
  selected: boolean;
  onSelect: (index: number, extend: boolean) => void;
}

const RunRow = memo(function RunRow({ run, index, columns, selected, onSelect }: RunRowProps) {
  const navigate = useNavigate();
  const open = (event: MouseEvent<HTMLElement>) => {
    if (event.target instanceof HTMLElement && event.target.closest('a,input,label')) return;
    void navigate({ to: '/runs/$n', params: { n: String(run.number) } });
  };
  return (
    <tr aria-rowindex={index + 2} aria-selected={selected} onClick={open}>
      <td>
        <Checkbox
          aria-label={`Select run ${run.number}`}
          checked={selected}
          onChange={(event) =>
            onSelect(
              index,
              event.nativeEvent instanceof globalThis.MouseEvent && event.nativeEvent.shiftKey,
            )
          }
        />
      </td>
      {columns.map(({ key, numeric, cell, hint }) => (
        <td key={key} className={numeric ? 'numeric' : ''} title={hint?.(run)}>
          {cell(run)}
        </td>
      ))}
    </tr>
  );
});
