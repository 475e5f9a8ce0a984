// The filter of the history as text: words and `key:value` terms, as somebody types them. What they mean is the server's.

/** The value of a term of the filter; null where it has none. */
export function termOf(filter: string, key: string): string | null {
  return filter.match(new RegExp(`(?:^|\\s)${key}:(\\S+)`))?.[1] ?? null;
}

/** The filter with that term, in place of another of the same key; null takes it out. */
export function withTerm(filter: string, key: string, value: string | null): string {
  const others = filter.split(/\s+/).filter((word) => word !== '' && !word.startsWith(`${key}:`));
  return [...others, ...(value === null ? [] : [`${key}:${value}`])].join(' ');
}
