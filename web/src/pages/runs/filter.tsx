// Menus next to the filter: verdict (a filter term) and visible columns.
import { Button } from '@mantine/core';
import { termOf, withTerm } from '../../model/run/filter';
import { VERDICT_LABELS } from '../../model/run/verdict';
import { MenuButton } from '../../ui/menu-button';
import { COLUMNS, DEFAULT_COLUMNS } from './columns';

interface MenuProps<Value> {
  value: Value;
  onChange: (value: Value) => void;
}

/** `value`: the complete filter. */
export function VerdictMenu({ value, onChange }: MenuProps<string>) {
  const chosen = termOf(value, 'verdict');
  const label = VERDICT_LABELS.find(({ name }) => name === chosen)?.label ?? chosen;
  const choose = (name: string | null) => onChange(withTerm(value, 'verdict', name));
  return (
    <MenuButton
      target={<Button>{label ? `Verdict: ${label}` : 'Verdict'} ▾</Button>}
      entries={[
        { type: 'radio', value: chosen ?? '', options: VERDICT_LABELS, onChange: choose },
        { type: 'divider' },
        { type: 'action', label: 'All', onSelect: () => choose(null) },
      ]}
    />
  );
}

/** `value`: keys of the visible columns. */
export function ColumnMenu({ value, onChange }: MenuProps<string[]>) {
  const toggle = (key: string) =>
    onChange(value.includes(key) ? value.filter((other) => other !== key) : [...value, key]);
  return (
    <MenuButton
      target={<Button>Columns ▾</Button>}
      entries={[
        ...COLUMNS.filter(({ key }) => key !== 'name').map(({ key, title }) => ({
          type: 'checkbox' as const,
          label: title,
          checked: value.includes(key),
          onChange: () => toggle(key),
        })),
        { type: 'divider' },
        {
          type: 'action',
          label: 'Reset columns',
          onSelect: () => onChange([...DEFAULT_COLUMNS]),
        },
      ]}
    />
  );
}
