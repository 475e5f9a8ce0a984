// Run table. Only the visible rows are rendered; spacers preserve the scroll height of all loaded
// rows.
import { Checkbox } from '@mantine/core';
import { useCallbackRef } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type MouseEvent, memo, useEffect, useRef } from 'react';
import type { RunSort, RunSummary, SortOrder } from '../../api';
import { ScrollRegion } from '../../ui/parts';
import { useOpenRun } from '../../ui/run-links';
import type { RunColumn } from './columns';
import { useRowKeys } from './use-row-keys';

const ROW_HEIGHT = 29;
/** Number of additional rows to render, so that fast scrolling leaves no gaps. */
const OVERSCAN = 12;

/** In pixels. */
const SELECT_WIDTH = 30;
/** Minimum width of columns that have no fixed width. Short tables should fit on a phone. */
const MIN_FLEXIBLE = { short: 70, long: 160 };
const MAX_SHORT = 5;

/** Widths of the columns. 0 takes the remaining space. */
function columnWidths(columns: readonly RunColumn[]) {
  const isShort = columns.length <= MAX_SHORT;
  const widths = columns.map(({ width, shortWidth }) => (isShort && shortWidth) || width);
  const flexible = isShort ? MIN_FLEXIBLE.short : MIN_FLEXIBLE.long;
  const minWidth = widths.reduce((sum, width) => sum + (width || flexible), SELECT_WIDTH);
  return { widths, minWidth, isShort };
}

interface RunTableProps {
  runs: readonly RunSummary[];
  total: number;
  columns: readonly RunColumn[];
  sort: RunSort;
  order: SortOrder;
  onSort: (sort: RunSort) => void;
  selected: ReadonlySet<number>;
  onSelect: (selected: ReadonlySet<number>) => void;
  /** Called when the last loaded row is almost visible. */
  onEnd: () => void;
}

export default function RunTable(props: RunTableProps) {
  const { runs, total, columns, sort, order, onSort, selected, onSelect, onEnd } = props;
  const scroller = useRef<HTMLElement>(null);
  /** The last clicked run's number. An index would be wrong after runs are added or removed. */
  const anchor = useRef<number | null>(null);
  const virtual = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  });
  const items = virtual.getVirtualItems();
  const { widths, minWidth, isShort } = columnWidths(columns);
  const last = items.at(-1);
  useEffect(() => {
    if (last && last.index >= runs.length - OVERSCAN) onEnd();
  }, [last, runs.length, onEnd]);

  // Keeps the callback stable, so that only changed rows are rendered again.
  const select = useCallbackRef((index: number, extend: boolean) => {
    const number = runs[index]?.number ?? null;
    const anchorIndex = extend ? runs.findIndex((run) => run.number === anchor.current) : -1;
    const from = anchorIndex < 0 ? index : anchorIndex;
    const range = runs.slice(Math.min(from, index), Math.max(from, index) + 1);
    const isSelecting = number !== null && !selected.has(number);
    const next = new Set(selected);
    for (const run of range) isSelecting ? next.add(run.number) : next.delete(run.number);
    anchor.current = number;
    onSelect(next);
  });

  useRowKeys({
    table: scroller,
    count: runs.length,
    scrollTo: (index) => virtual.scrollToIndex(index),
    onSelect: (index) => select(index, false),
  });

  return (
    <ScrollRegion ref={scroller} className="card run-table" label="Runs">
      <table
        aria-rowcount={total + 1}
        className={isShort ? 'short' : undefined}
        style={{ minWidth }}
      >
        <colgroup>
          <col style={{ width: SELECT_WIDTH }} />
          {columns.map(({ key }, index) => (
            <col key={key} style={{ width: widths[index] || undefined }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            <th>
              <SelectAll runs={runs} selected={selected} onSelect={onSelect} />
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
          <Spacer height={items[0]?.start ?? 0} />
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
          <Spacer height={virtual.getTotalSize() - (last?.end ?? 0)} />
        </tbody>
      </table>
    </ScrollRegion>
  );
}

/** Selects or deselects all loaded runs. */
function SelectAll({
  runs,
  selected,
  onSelect,
}: Pick<RunTableProps, 'runs' | 'selected' | 'onSelect'>) {
  const count = runs.filter(({ number }) => selected.has(number)).length;
  const isAll = runs.length > 0 && count === runs.length;
  const toggle = () => {
    const next = new Set(selected);
    for (const { number } of runs) isAll ? next.delete(number) : next.add(number);
    onSelect(next);
  };
  return (
    <Checkbox
      aria-label={`Select all ${runs.length} loaded runs`}
      checked={isAll}
      indeterminate={count > 0 && !isAll}
      onChange={toggle}
    />
  );
}

function Spacer({ height }: { height: number }) {
  return height > 0 ? <tr aria-hidden style={{ height }} /> : null;
}

const SORT_LABELS = {
  asc: { aria: 'ascending', arrow: ' ↑' },
  desc: { aria: 'descending', arrow: ' ↓' },
} as const;

interface HeadCellProps {
  column: RunColumn;
  sorted: SortOrder | null;
  onSort: (sort: RunSort) => void;
}

function HeadCell({ column: { title, numeric, sort }, sorted, onSort }: HeadCellProps) {
  const label = sorted && SORT_LABELS[sorted];
  return (
    <th scope="col" aria-sort={label?.aria} className={numeric ? 'numeric' : ''}>
      {sort ? (
        <button type="button" className="plain" onClick={() => onSort(sort)}>
          {title}
          {label?.arrow}
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
  const openRun = useOpenRun();
  const open = (event: MouseEvent<HTMLElement>) => {
    if (event.target instanceof HTMLElement && event.target.closest('a,input,label')) return;
    void openRun(run);
  };
  return (
    <tr data-index={index} aria-rowindex={index + 2} aria-selected={selected} onClick={open}>
      <td>
        <Checkbox
          aria-label={`Select run ${run.number}`}
          checked={selected}
          onChange={({ nativeEvent }) =>
            onSelect(index, nativeEvent instanceof globalThis.MouseEvent && nativeEvent.shiftKey)
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
