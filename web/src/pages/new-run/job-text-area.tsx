// The text area for the job file, with line numbers, completion, and help for the option under the
// pointer.
import { memo, type RefObject, useState } from 'react';
import type { OptionDoc } from '../../api';
import { needsImport } from '../../model/job/import';
import { LINE_HEIGHT, PADDING } from '../../model/job/text-position';
import { CompletionList, itemId } from './completion-list';
import { HoverHelp, useHoveredLine } from './hover-help';
import type { useCompletion } from './use-completion';

interface JobTextAreaProps {
  area: RefObject<HTMLTextAreaElement | null>;
  text: string;
  setText: (text: string) => void;
  badLines: ReadonlySet<number | null>;
  options: readonly OptionDoc[];
  completion: ReturnType<typeof useCompletion>;
  /** ID of the element with help for the option at the caret. */
  helpId: string;
  onPasteCommand?: (text: string) => void;
}

export function JobTextArea({ area, text, setText, badLines, options, ...rest }: JobTextAreaProps) {
  const { completion, helpId, onPasteCommand } = rest;
  const { handlers, listed, listId, selected } = completion;
  const hovered = useHoveredLine(text);
  const [scrollLeft, setScrollLeft] = useState(0);
  const lines = text.split('\n');
  return (
    <div className="editor">
      <LineNumbers count={lines.length} badLines={[...badLines].join(' ')} />
      <div className="text">
        {/* A text area is a multi-line textbox, so the role combobox and aria-expanded do not
            apply: aria-controls is set while the list is open. */}
        <textarea
          {...handlers}
          {...hovered.handlers}
          ref={area}
          aria-label="Job file"
          aria-invalid={badLines.size > 0}
          aria-describedby={helpId}
          aria-haspopup="listbox"
          aria-autocomplete="list"
          aria-controls={listed ? listId : undefined}
          aria-activedescendant={listed ? itemId(listId, selected) : undefined}
          autoCapitalize="off"
          autoComplete="off"
          autoCorrect="off"
          spellCheck={false}
          wrap="off"
          rows={Math.max(16, lines.length + 1)}
          value={text}
          onScroll={({ currentTarget }) => setScrollLeft(currentTarget.scrollLeft)}
          onChange={(event) => {
            setText(event.currentTarget.value);
            handlers.onChange(event);
          }}
          onPaste={(event) => {
            const pasted = event.clipboardData.getData('text/plain');
            if (!onPasteCommand || !needsImport(pasted)) return;
            event.preventDefault();
            onPasteCommand(pasted);
          }}
        />
        <CompletionList state={completion} text={text} scrollLeft={scrollLeft} />
        {!listed && <HoverHelp {...{ hovered, text, options, scrollLeft }} />}
      </div>
    </div>
  );
}

interface LineNumbersProps {
  count: number;
  /** Zero-based lines with a problem, separated by spaces. A string, because `memo` compares it. */
  badLines: string;
}

const LINES_PER_BLOCK = 100;

/** Line numbers are in blocks, because the browser lays out a block again when it grows. */
const LineNumbers = memo(({ count, badLines }: LineNumbersProps) => (
  <div className="line-numbers" aria-hidden>
    {Array.from({ length: Math.ceil(count / LINES_PER_BLOCK) }, (_, index) => {
      const first = index * LINES_PER_BLOCK + 1;
      const size = Math.min(LINES_PER_BLOCK, count - first + 1);
      return (
        <div key={first}>{Array.from({ length: size }, (_, line) => first + line).join('\n')}</div>
      );
    })}
    {badLines.split(' ').map(
      (line) =>
        line !== '' && (
          <span key={line} style={{ top: PADDING.top + LINE_HEIGHT * Number(line) }}>
            ▸{Number(line) + 1}
          </span>
        ),
    )}
  </div>
));
