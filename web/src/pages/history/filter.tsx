// Beside the filter: the choice of a verdict, which is a part of it, and of columns.
import { Button, Menu } from '@mantine/core';
import { termOf, withTerm } from '../../model/run/filter';
import { VERDICTS } from '../../model/run/verdict';
import { COLUMNS, DEFAULT_COLUMNS } from './columns';

/** Only runs that were answered in one place; the filter's text says so too. */
export function VerdictMenu({
  value,
  onChange,
}: {
  value: string;
  onChange: (value: string) => void;
}) {
  const chosen = termOf(value, 'verdict');
  const label = VERDICTS.find(({ name }) => name === chosen)?.label ?? chosen;
  return (
    <Menu>
      <Menu.Target>
        <Button>{label ? `Verdict: ${label}` : 'Verdict'} ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup
          value={chosen ?? ''}
          onChange={(name) => onChange(withTerm(value, 'verdict', name))}
        >
          {VERDICTS.map((verdict) => (
            <Menu.RadioItem key={verdict.name} value={verdict.name} closeMenuOnClick>
              {verdict.label}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.Item onClick={() => onChange(withTerm(value, 'verdict', null))}>all</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Which columns are shown. */
export function ColumnMenu({
  shown,
  onChange,
}: {
  shown: readonly string[];
  onChange: (shown: string[]) => void;
}) {
  const toggle = (key: string) =>
    onChange(shown.includes(key) ? shown.filter((other) => other !== key) : [...shown, key]);
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
            checked={shown.includes(key)}
            onChange={() => toggle(key)}
          >
            {title}
          </Menu.CheckboxItem>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => onChange([...DEFAULT_COLUMNS])}>as at first</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
