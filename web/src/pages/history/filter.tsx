// Menus next to the filter: verdict (a filter term) and visible columns.
import { Button, Menu } from '@mantine/core';
import { termOf, withTerm } from '../../model/run/filter';
import { VERDICT_LABELS } from '../../model/run/verdict';
import { COLUMNS, DEFAULT_COLUMNS } from './columns';

interface MenuProps<Value> {
  value: Value;
  onChange: (value: Value) => void;
}

/** `value` is the whole filter. */
export function VerdictMenu({ value, onChange }: MenuProps<string>) {
  const chosen = termOf(value, 'verdict');
  const label = VERDICT_LABELS.find(({ name }) => name === chosen)?.label ?? chosen;
  const choose = (name: string | null) => onChange(withTerm(value, 'verdict', name));
  return (
    <Menu>
      <Menu.Target>
        <Button>{label ? `Verdict: ${label}` : 'Verdict'} ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={chosen ?? ''} onChange={choose}>
          {VERDICT_LABELS.map((verdict) => (
            <Menu.RadioItem key={verdict.name} value={verdict.name} closeMenuOnClick>
              {verdict.label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item onClick={() => choose(null)}>All</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** `value` lists the keys of the visible columns. */
export function ColumnMenu({ value, onChange }: MenuProps<string[]>) {
  const toggle = (key: string) =>
    onChange(value.includes(key) ? value.filter((other) => other !== key) : [...value, key]);
  return (
    <Menu closeOnItemClick={false}>
      <Menu.Target>
        <Button>Columns ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {COLUMNS.filter(({ key }) => key !== 'name').map(({ key, title }) => (
          <Menu.CheckboxItem
            key={key}
            value={key}
            checked={value.includes(key)}
            onChange={() => toggle(key)}
          >
            {title}
          </Menu.CheckboxItem>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => onChange([...DEFAULT_COLUMNS])}>Reset columns</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
