// Edits the run list filter: words and `key:value` terms. The server interprets them.

/** Returns a term's value; null if the filter does not contain the term. */
export function termOf(filter: string, key: string): string | null {
  return filter.match(new RegExp(`(?:^|\\s)${key}:(\\S+)`))?.[1] ?? null;
}

/** Replaces all terms with a key. If the value is null, removes them. */
export function withTerm(filter: string, key: string, value: string | null): string {
  const words = filter.split(/\s+/).filter((word) => word !== '' && !word.startsWith(`${key}:`));
  if (value !== null) words.push(`${key}:${value}`);
  return words.join(' ');
}

/** Returns a filter for runs with a tag. */
export const tagTerm = (tag: string): string => (/\s/.test(tag) ? `tag:"${tag}"` : `tag:${tag}`);
