// Arrow keys move focus between the rows of the run table, and x selects the focused row. These
// keys are disabled while a field, menu or dialog has focus. In the filter field, the down arrow
// key moves focus to the table.
import { useCallbackRef } from '@mantine/hooks';
import { type RefObject, useEffect } from 'react';

const OTHER = 'input:not([type="checkbox"]), textarea, select, [role="menu"], [role="dialog"]';

interface RowKeys {
  table: RefObject<HTMLElement | null>;
  /** Number of loaded rows. */
  count: number;
  scrollTo: (index: number) => void;
  onSelect: (index: number) => void;
}

export function useRowKeys({ table, count, scrollTo, onSelect }: RowKeys) {
  const onKeyDown = useCallbackRef((event: KeyboardEvent) => {
    const { target, key } = event;
    if (!(target instanceof Element) || event.ctrlKey || event.metaKey || event.altKey) return;
    const inFilter = target.matches('[data-key="/"]') && key === 'ArrowDown';
    if (count === 0 || (target.closest(OTHER) && !inFilter)) return;
    const row = table.current?.contains(target)
      ? target.closest<HTMLElement>('tr[data-index]')
      : null;
    const current = row ? Number(row.dataset.index) : null;
    if (key === 'x' && current !== null) onSelect(current);
    else if (key === 'ArrowDown') focusRow(Math.min(count - 1, (current ?? -1) + 1));
    else if (key === 'ArrowUp' && current !== null) focusRow(Math.max(0, current - 1));
    else return;
    event.preventDefault();
  });
  const focusRow = (index: number) => {
    scrollTo(index);
    // A row that was not visible is rendered only after scrolling.
    requestAnimationFrame(() =>
      table.current
        ?.querySelector<HTMLElement>(`tr[data-index="${index}"] a`)
        ?.focus({ preventScroll: true }),
    );
  };
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [onKeyDown]);
}
