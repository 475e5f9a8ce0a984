// The filter of runs, which follows the typing after a moment.
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useRef, useState } from 'react';

/** How long typing must rest before the server is asked, in ms. */
const REST_MS = 200;

/** The field; what stands above it counts, such as the address, so that going back goes back. */
export function FilterField({
  value,
  onChange,
}: {
  value: string;
  onChange: (value: string) => void;
}) {
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
