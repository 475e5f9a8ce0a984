// Keyboard handling and state for the job text completion list.
import {
  type ChangeEvent,
  type KeyboardEvent,
  type RefObject,
  type SyntheticEvent,
  useId,
  useState,
} from 'react';
import type { OptionDoc } from '../../api';
import { type Completion, type CompletionItem, completionAt } from '../../model/job/completion';

/** `requested`: opened with Ctrl+Space, which also lists all names on an empty line. */
type Opened = 'typed' | 'requested' | null;

export interface CompletionState {
  listId: string;
  caret: number;
  /** The listed items; null if the list is closed. */
  listed: Completion | null;
  /** Index of the selected item. */
  selected: number;
  accept: (item: CompletionItem) => void;
  close: () => void;
}

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

export function useCompletion(
  area: RefObject<HTMLTextAreaElement | null>,
  text: string,
  options: readonly OptionDoc[],
) {
  const listId = useId();
  const [caret, setCaret] = useState(0);
  const [opened, setOpened] = useState<Opened>(null);
  const [selected, setSelected] = useState(0);
  const found = opened ? completionAt(text, caret, options) : null;
  const isUnasked = opened === 'typed' && found?.kind === 'name' && found.word === '';
  const listed = isUnasked ? null : found;
  const close = () => setOpened(null);

  const accept = ({ insert }: CompletionItem) => {
    if (!listed || !area.current) return;
    replaceText(area.current, listed.from, listed.to, insert);
    // After accepting an option, complete its value.
    setOpened(insert.endsWith('=') ? 'typed' : null);
  };

  const move = (step: number, count: number) => setSelected((selected + step + count) % count);

  /** Returns true if the key was handled. */
  const press = (key: string, { word, items }: Completion): boolean => {
    const item = items[selected] ?? items[0];
    const step = MOVES[key];
    if (step) move(step, items.length);
    else if (key === 'Escape') close();
    // A name without a value is valid: in fio, `time_based` means `time_based=1`.
    else if (key === 'Enter' && item && isComplete(item, word)) return false;
    else if ((key === 'Enter' || key === 'Tab') && item) accept(item);
    else return false;
    return true;
  };

  const handlers = {
    onChange: ({ currentTarget, nativeEvent }: ChangeEvent<HTMLTextAreaElement>) => {
      setCaret(currentTarget.selectionStart);
      setSelected(0);
      setOpened((old) => stateAfterInput(nativeEvent as InputEvent, old));
    },
    onSelect: ({ currentTarget }: SyntheticEvent<HTMLTextAreaElement>) => {
      if (currentTarget.selectionStart === caret) return;
      setCaret(currentTarget.selectionStart);
      close();
    },
    onKeyDown: (event: KeyboardEvent<HTMLTextAreaElement>) => {
      if (event.nativeEvent.isComposing) return;
      const isRequest = event.ctrlKey && event.code === 'Space';
      if (isRequest) {
        setCaret(event.currentTarget.selectionStart);
        setSelected(0);
        setOpened('requested');
      }
      if (isRequest || (listed && !hasModifier(event) && press(event.key, listed))) {
        event.preventDefault();
        event.stopPropagation();
      }
    },
    onBlur: close,
  };
  return { handlers, listId, caret, listed, selected, accept, close };
}

const isComplete = ({ label, doc }: CompletionItem, word: string) =>
  label === word || doc.aliases.includes(word);

const hasModifier = (event: KeyboardEvent) =>
  event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;

/** Typing opens the list, and deleting keeps it open. Other changes, such as pasting, close it. */
function stateAfterInput({ inputType, data }: InputEvent, old: Opened): Opened {
  const isTyped = inputType === 'insertText' || inputType === 'insertCompositionText';
  if (isTyped && data && !data.includes('\n')) return 'typed';
  return inputType?.startsWith('delete') ? old : null;
}

function replaceText(area: HTMLTextAreaElement, from: number, to: number, insert: string) {
  area.setSelectionRange(from, to);
  // `execCommand` is deprecated, but it is the only way to insert text that Ctrl+Z can undo.
  if (document.execCommand?.('insertText', false, insert)) return;
  area.setRangeText(insert, from, to, 'end');
  area.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText' }));
}
