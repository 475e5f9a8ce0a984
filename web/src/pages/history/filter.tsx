// The filter, which follows the typing after a moment, and the choice of columns.
import { Button, Menu, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';
import { termOf, withTerm } from '../../model/filter-text';
import { VERDICTS } from '../../model/verdict';
import { COLUMNS, DEFAULT_COLUMNS } from './columns';

/** How long typing must rest before the server is asked, in ms. */
const REST_MS = 200;

/** The field; the address is what counts, so that going back goes back. */
export function FilterField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  const tell = useDebouncedCallback((text: string) => {
    told.current = text;
    onChange(text);
  }, REST_MS);
  useEffect(() => {
    // What was told comes back later and without its last space; meanwhile typing may have gone on.
    if (value === told.current) return;
    told.current = value;
    setTyped(value);
  }, [value]);
  return (
    <TextInput
      type="search"
      data-key="/"
      data-does="filter runs"
      aria-label="Filter runs"
      placeholder="Filter: demo rw:randread verdict:page_cache -tag:old"
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        tell(currentTarget.value.trim());
      }}
      style={{ flex: '1 1 320px' }}
    />
  );
}

/** Only runs that were answered in one place; the filter's text says so too. */
export function VerdictMenu({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const chosen = termOf(value, 'verdict');
  const word = VERDICTS.find(({ name }) => name === chosen)?.word ?? chosen;
  return (
    <Menu>
      <Menu.Target>
        <Button>{word ? `Verdict: ${word}` : 'Verdict'} ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={chosen ?? ''} onChange={(name) => onChange(withTerm(value, 'verdict', name))}>
          {VERDICTS.map((verdict) => (
            <Menu.RadioItem key={verdict.name} value={verdict.name} closeMenuOnClick>
              {verdict.word}
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
export function ColumnMenu({ shown, onChange }: { shown: readonly string[]; onChange: (shown: string[]) => void }) {
  const toggle = (key: string) => onChange(shown.includes(key) ? shown.filter((other) => other !== key) : [...shown, key]);
  return (
    <Menu closeOnItemClick={false}>
      <Menu.Target>
        <Button>Columns ▾</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {COLUMNS.filter(({ key }) => key !== 'name').map(({ key, title }) => (
          <Menu.CheckboxItem key={key} value={key} checked={shown.includes(key)} onChange={() => toggle(key)}>
            {title}
          </Menu.CheckboxItem>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => onChange([...DEFAULT_COLUMNS])}>as at first</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
