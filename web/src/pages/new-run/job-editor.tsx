// The same job in fio's words, editable: what is typed here changes the fields, and the other way round.
import { type ReactNode, useRef } from 'react';
import { copyText } from '../../ui/clipboard';
import { Card } from '../../ui/parts';
import type { JobDraft } from './use-job';

/** The text beside the form; below it, what else is to be known. */
export function JobEditor({
  draft: { text, setText, obstacles },
  children,
}: {
  draft: JobDraft;
  children?: ReactNode;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const bad = obstacles.filter((obstacle) => obstacle.line !== null);
  const marked = new Set(bad.map(({ line }) => line));
  const lines = text.split('\n');
  const show = (line: number) => {
    const start = lines.slice(0, line).join('\n').length + (line > 0 ? 1 : 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (lines[line]?.length ?? 0));
  };
  return (
    <Card
      title="The same job in fio’s words"
      className="job-text"
      aside={
        <button type="button" className="chip" onClick={() => void copyText('Job file', text)}>
          copy
        </button>
      }
    >
      <div className="editor">
        <ol aria-hidden>
          {lines.map((_, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are their numbers
            <li key={i} className={marked.has(i) ? 'bad' : ''}>
              {marked.has(i) ? '▸' : i + 1}
            </li>
          ))}
        </ol>
        <textarea
          ref={area}
          aria-label="Job file"
          aria-invalid={bad.length > 0}
          spellCheck={false}
          wrap="off"
          rows={Math.max(16, lines.length + 1)}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
      </div>
      {bad.length > 0 && (
        <ul className="obstacles">
          {bad.map(({ line, detail, remedy }) => (
            <li key={`${line}${detail}`}>
              <button type="button" onClick={() => show(line ?? 0)}>
                line {(line ?? 0) + 1}
              </button>{' '}
              {detail} <span className="mute">{remedy}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="mute small">
        Edit here or there; each follows the other. Sections under <code>[name]</code> are jobs that
        start together; <code>[global]</code> counts for all after it, and an empty{' '}
        <code>option=</code> takes that from one of them.
      </p>
      {children && <p className="mute small">{children}</p>}
    </Card>
  );
}
