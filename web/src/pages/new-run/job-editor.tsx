// The fio job file as text, in sync with the form.
import { type ReactNode, useRef } from 'react';
import { needsImport } from '../../model/job/import';
import { copyText } from '../../ui/clipboard';
import { Card } from '../../ui/parts';
import { ProblemList } from './problem-list';
import type { JobDraft } from './use-job-text';

interface JobEditorProps {
  draft: JobDraft;
  /** Receives pasted commands instead of the text. */
  onPasteCommand?: (text: string) => void;
  /** Additional help below the editor. */
  children?: ReactNode;
}

export function JobEditor({ draft, onPasteCommand, children }: JobEditorProps) {
  const { text, setText, problems } = draft;
  const area = useRef<HTMLTextAreaElement>(null);
  const located = problems.filter(({ line }) => line !== null);
  const badLines = new Set(located.map(({ line }) => line));
  const lines = text.split('\n');
  const select = (line: number) => {
    const start = lines.slice(0, line).join('\n').length + (line > 0 ? 1 : 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (lines[line]?.length ?? 0));
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
      <div className="editor">
        <ol aria-hidden>
          {lines.map((_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified by their number
            <li key={index} className={badLines.has(index) ? 'bad' : ''}>
              {badLines.has(index) ? '▸' : index + 1}
            </li>
          ))}
        </ol>
        <textarea
          ref={area}
          aria-label="Job file"
          aria-invalid={located.length > 0}
          spellCheck={false}
          wrap="off"
          rows={Math.max(16, lines.length + 1)}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          onPaste={(event) => {
            const pasted = event.clipboardData.getData('text/plain');
            if (!onPasteCommand || !needsImport(pasted)) return;
            event.preventDefault();
            onPasteCommand(pasted);
          }}
        />
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
