// The fio job file as text. It is kept in sync with the form.
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useRef } from 'react';
import { optionsQuery } from '../../api/queries';
import { optionOfLine } from '../../model/job/completion';
import { LINE_HEIGHT } from '../../model/job/text-position';
import { copyText } from '../../ui/clipboard';
import { Card } from '../../ui/parts';
import { JobTextArea } from './job-text-area';
import { OptionHelp } from './option-help';
import { ProblemList } from './problem-list';
import { useCompletion } from './use-completion';
import type { JobDraft } from './use-job-text';
import './job-editor.css';

interface JobEditorProps {
  draft: JobDraft;
  /** Called with pasted commands instead of inserting them into the text. */
  onPasteCommand?: (text: string) => void;
  /** Additional help below the editor. */
  children?: ReactNode;
}

/** Lines shown above a line that is scrolled into view. */
const CONTEXT_LINES = 3;

/** A text area does not scroll to its selection, so this does. */
function scrollToLine(editor: Element | null | undefined, line: number) {
  if (!editor) return;
  editor.scrollTop = LINE_HEIGHT * Math.max(0, line - CONTEXT_LINES);
  editor.scrollIntoView({ block: 'nearest' });
}

export function JobEditor({ draft, onPasteCommand, children }: JobEditorProps) {
  const { text, setText, problems } = draft;
  // If the options cannot be loaded, the text can still be edited. "All options" shows the error.
  const options = useQuery(optionsQuery).data ?? [];
  const area = useRef<HTMLTextAreaElement>(null);
  const helpId = useId();
  const completion = useCompletion(area, text, options);
  const { listed, selected, caret } = completion;
  const located = problems.filter(({ line }) => line !== null);
  const lines = text.split('\n');
  const lineAtCaret = lines[text.slice(0, caret).split('\n').length - 1] ?? '';
  const doc = listed?.items[selected]?.doc ?? optionOfLine(lineAtCaret, options);
  const select = (line: number) => {
    const start = lines.slice(0, line).join('\n').length + (line > 0 ? 1 : 0);
    area.current?.focus({ preventScroll: true });
    area.current?.setSelectionRange(start, start + (lines[line]?.length ?? 0));
    scrollToLine(area.current?.closest('.editor'), line);
  };
  return (
    <Card
      title="fio job file"
      className="job-editor"
      aside={
        <button type="button" className="chip" onClick={() => void copyText('Job file', text)}>
          Copy
        </button>
      }
    >
      <JobTextArea
        {...{ area, text, setText, options, completion, helpId, onPasteCommand }}
        badLines={new Set(located.map(({ line }) => line))}
      />
      <div id={helpId} className="caret-help small">
        {doc ? (
          <OptionHelp doc={doc} />
        ) : (
          <span className="mute">
            <kbd>Ctrl</kbd>+<kbd>Space</kbd> lists options and values. Help for the option at the
            cursor appears here.
          </span>
        )}
      </div>
      {located.length > 0 && (
        <ProblemList
          problems={located}
          prefix={({ line }) => (
            <button type="button" className="plain" onClick={() => select(line ?? 0)}>
              line {(line ?? 0) + 1}
            </button>
          )}
        />
      )}
      <p className="mute small">
        The form and this text stay in sync. Each <code>[name]</code> section is a job; all jobs
        start together. <code>[global]</code> applies to all jobs after it, and an empty{' '}
        <code>option=</code> unsets a global option for one job.
      </p>
      {children && <p className="mute small">{children}</p>}
    </Card>
  );
}
