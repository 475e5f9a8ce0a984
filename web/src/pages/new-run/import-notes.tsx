// Notes about imported text, each with its line.
import type { ImportNote, ImportSeverity } from '../../api';

const LABELS: Record<ImportSeverity, string> = { info: 'Note', warning: 'Warning', error: 'Error' };

interface ImportNotesProps {
  notes: readonly ImportNote[];
  /** Selects the text that a note refers to. */
  onSelect: (note: ImportNote) => void;
  onReplace: (note: ImportNote) => void;
}

export function ImportNotes({ notes, onSelect, onReplace }: ImportNotesProps) {
  if (notes.length === 0) return null;
  return (
    <ul className="import-notes">
      {notes.map((note) => (
        <li
          key={`${note.line}:${note.column}:${note.code}:${note.sentence}`}
          className={note.severity}
        >
          <button
            type="button"
            className="plain mono"
            aria-label={`Select line ${note.line}, column ${note.column}`}
            onClick={() => onSelect(note)}
          >
            {note.line}:{note.column}
          </button>
          <span>
            <b>{LABELS[note.severity]}:</b> {note.sentence}{' '}
            <span className="mute">{note.remedy}</span>{' '}
            {note.replacement && (
              <button type="button" className="chip" onClick={() => onReplace(note)}>
                Replace with <code>{note.replacement}</code>
              </button>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
