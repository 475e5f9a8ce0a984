// The run list filter. It is applied after a pause in typing.
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

const DEBOUNCE_MS = 200;

interface FilterFieldProps {
  /** The applied filter. If it changes from outside (back button), it replaces the typed text. */
  value: string;
  onChange: (value: string) => void;
}

export function FilterField({ value, onChange }: FilterFieldProps) {
  const [typed, setTyped] = useState(value);
  const applied = useRef(value);
  const apply = useDebouncedCallback((text: string) => {
    applied.current = text;
    onChange(text);
  }, DEBOUNCE_MS);
  useEffect(() => {
    // The applied filter is trimmed and delayed, so it must not overwrite text that was typed in
    // the meantime.
    if (value === applied.current) return;
    applied.current = value;
    setTyped(value);
  }, [value]);
  return (
    <TextInput
      type="search"
      data-key="/"
      data-action="Filter runs"
      aria-label="Filter runs"
      placeholder="Filter: demo rw:randread verdict:page_cache -tag:old"
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        apply(currentTarget.value.trim());
      }}
      style={{ flex: '1 1 320px' }}
    />
  );
}
