// An editable name in a heading. It takes as many lines as it needs. It is saved on Enter and when
// the field loses focus; Escape restores the stored name.
import { Badge } from './parts';
import './title-field.css';

interface TitleFieldProps {
  /** Accessible name. */
  label: string;
  /** The stored name. If it changes, it replaces the text. */
  value: string;
  placeholder?: string;
  /** Limit in characters, as on the server. */
  maxLength: number;
  unsaved: boolean;
  /** Called with the trimmed text, even if it has not changed. */
  save: (value: string) => void;
}

export function TitleField(props: TitleFieldProps) {
  const { label, value, placeholder, maxLength, unsaved, save } = props;
  return (
    <>
      <textarea
        key={value}
        className="title-edit"
        aria-label={label}
        aria-invalid={unsaved}
        rows={1}
        defaultValue={value}
        placeholder={placeholder}
        maxLength={maxLength}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.value = value;
          if (event.key !== 'Enter') return;
          event.preventDefault();
          event.currentTarget.blur();
        }}
        // Joins pasted lines.
        onBlur={({ currentTarget }) =>
          save(currentTarget.value.replaceAll(/\s*\n\s*/g, ' ').trim())
        }
      />
      {unsaved && <Badge tone="bad">Not saved</Badge>}
    </>
  );
}
