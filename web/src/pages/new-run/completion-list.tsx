// The completion list for job text, shown below the word at the caret.
import { Combobox, useCombobox } from '@mantine/core';
import { useEffect } from 'react';
import type { Completion, CompletionItem } from '../../model/job/completion';
import { summaryOf, typeAndDefault } from '../../model/job/option-summary';
import { positionAt } from '../../model/job/text-position';
import { POPOVER_PORTAL, TextAnchor } from './text-anchor';
import type { CompletionState } from './use-completion';

interface CompletionListProps {
  state: CompletionState;
  text: string;
  /** Horizontal scroll position of the text, in pixels. */
  scrollLeft: number;
}

export const itemId = (listId: string, index: number) => `${listId}-${index}`;

export function CompletionList({ state, text, scrollLeft }: CompletionListProps) {
  const { listed, listId, selected, accept, close } = state;
  const store = useCombobox({
    opened: listed !== null,
    onOpenedChange: (isOpen) => isOpen || close(),
  });
  const position = positionAt(text, listed?.from ?? 0);
  useEffect(() => {
    // This method does not exist in jsdom.
    document.getElementById(itemId(listId, selected))?.scrollIntoView?.({ block: 'nearest' });
  }, [listId, selected]);
  return (
    <Combobox
      store={store}
      width={listed?.kind === 'value' ? 180 : 'min(360px, calc(100vw - 24px))'}
      position="bottom-start"
      portalProps={POPOVER_PORTAL}
    >
      <Combobox.DropdownTarget>
        <TextAnchor {...position} scrollLeft={scrollLeft} />
      </Combobox.DropdownTarget>
      <Combobox.Dropdown className="completion">
        {/* Scrollable regions must be focusable, even though Tab accepts an item instead. */}
        <Combobox.Options id={listId} aria-label="Completions" tabIndex={0}>
          {listed?.items.map((item, index) => (
            <Combobox.Option
              key={item.label}
              id={itemId(listId, index)}
              value={item.label}
              aria-selected={index === selected}
              selected={index === selected}
              onClick={() => accept(item)}
            >
              <Item kind={listed.kind} item={item} />
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

interface ItemProps {
  kind: Completion['kind'];
  item: CompletionItem;
}

function Item({ kind, item: { label, doc } }: ItemProps) {
  if (kind === 'value')
    return (
      <>
        <b className="mono">{label}</b>
        {label === doc.default && <span className="mute small">default</span>}
      </>
    );
  return (
    <>
      <b className="mono">{label}</b>
      <span className="mute small">{typeAndDefault(doc)}</span>
      <span className="summary small">{summaryOf(doc)}</span>
    </>
  );
}
