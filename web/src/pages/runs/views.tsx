// Saved views menu, and the dialog that saves and deletes views. Views are stored in the browser.
// A link to a view works in any browser, because its URL contains the complete view.
import { Button, TextInput } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import {
  addView,
  findView,
  MAX_VIEW_NAME,
  removeView,
  type View,
  type ViewSearch,
  validViews,
} from '../../model/run/views';
import { Dialog } from '../../ui/dialog';
import { MenuButton } from '../../ui/menu-button';
import type { MenuEntry } from '../../ui/menu-entry';

/** `search`: the current view. */
export function ViewMenu({ search }: { search: ViewSearch }) {
  const [stored, store] = useLocalStorage<View[]>({ key: 'leadline-run-views', defaultValue: [] });
  const [isEditing, setIsEditing] = useState(false);
  const views = validViews(stored);
  const current = findView(views, search);
  const links = views.map((view): MenuEntry => {
    return { type: 'page', label: view.name, link: { to: '/runs', search: view.search } };
  });
  return (
    <>
      <MenuButton
        target={<Button>{current ? `View: ${current.name}` : 'Views'} ▾</Button>}
        entries={[
          ...links,
          ...(links.length > 0 ? [{ type: 'divider' } as const] : []),
          {
            type: 'action',
            label: links.length > 0 ? 'Save or delete views…' : 'Save view…',
            onSelect: () => setIsEditing(true),
          },
        ]}
      />
      <Dialog opened={isEditing} onClose={() => setIsEditing(false)} title="Saved views">
        <SaveForm
          search={search}
          onSave={(view) => {
            store(addView(views, view));
            setIsEditing(false);
          }}
        />
        <ViewList views={views} onDelete={(name) => store(removeView(views, name))} />
      </Dialog>
    </>
  );
}

function SaveForm({ search, onSave }: { search: ViewSearch; onSave: (view: View) => void }) {
  const navigate = useNavigate();
  const save = (form: FormData) => {
    const name = String(form.get('name') ?? '').trim();
    if (!name) return;
    onSave({ name, search });
    void navigate({ to: '/runs', search, replace: true });
  };
  return (
    <form action={save} className="row" style={{ alignItems: 'flex-end' }}>
      <TextInput
        name="name"
        label="Name for the current filter, order and columns"
        maxLength={MAX_VIEW_NAME}
        data-autofocus
        required
        style={{ flex: 1 }}
      />
      <Button type="submit" variant="filled">
        Save view
      </Button>
    </form>
  );
}

interface ViewListProps {
  views: readonly View[];
  onDelete: (name: string) => void;
}

function ViewList({ views, onDelete }: ViewListProps) {
  return views.map(({ name }) => (
    <div key={name} className="row" style={{ marginTop: 10 }}>
      <span className="clip">{name}</span>
      <span className="push" />
      <Button aria-label={`Delete view ${name}`} onClick={() => onDelete(name)}>
        Delete
      </Button>
    </div>
  ));
}
