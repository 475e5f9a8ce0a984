// Fields for the tags and notes of a run.
import { TagsInput, Textarea } from '@mantine/core';
import type { Run } from '../../api';
import { useRunField } from './actions';
import '../../ui/fields.css';

export function TagsAndNotesFields({ run }: { run: Run }) {
  const tags = useRunField(run, 'tags');
  const notes = useRunField(run, 'notes');
  return (
    <div className="stack">
      <TagsInput
        aria-label="Tags"
        placeholder="Add a tag and press Enter"
        value={tags.value}
        onChange={tags.save}
        error={tags.unsaved && 'Not saved. Change the tags to retry.'}
        maxTags={20}
        clearable
      />
      <Textarea
        key={run.notes}
        aria-label="Notes"
        placeholder="Notes about this run"
        defaultValue={run.notes}
        autosize
        minRows={2}
        onBlur={({ currentTarget: { value } }) => notes.save(value)}
        error={notes.unsaved && 'Not saved. Edit the notes to retry.'}
      />
    </div>
  );
}
