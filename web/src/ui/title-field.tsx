// An editable name in a heading. It is saved on Enter and when the field loses focus; Escape
// restores the stored name.
import { Badge } from './parts';
import './title-field.css';

interface TitleFieldProps {
  /** Accessible name. */
  label: string;
  /** The stored name; a change replaces the text. */
  value: string;
  placeholder?: string;
  unsaved: boolean;
  /** Called with the trimmed text, even if it has not changed. */
  save: (value: string) => void;
}

/** In bytes, as in the server. */
const MAX_LENGTH = 200;

export function TitleField({ label, value, placeholder, unsaved, save }: TitleFieldProps) {
  return (
    <>
      <input
        key={value}
        className="title-edit"
        aria-label={label}
        aria-invalid={unsaved}
        title={value || undefined}
        defaultValue={value}
        placeholder={placeholder}
        maxLength={MAX_LENGTH}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Escape') currentTarget.value = value;
          if (key === 'Enter') currentTarget.blur();
        }}
        onBlur={({ currentTarget }) => save(currentTarget.value.trim())}
      />
      {unsaved && <Badge tone="bad">Not saved</Badge>}
    </>
  );
}
