// Writes URL query strings as plain text, so links stay readable and work in chat apps.

/** Parses `?runs=1,2&baseline=1` into an object. */
export function readSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

/** Omits empty values and leaves commas and colons unescaped. */
export function writeSearch(values: Record<string, unknown>): string {
  const present = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const text = new URLSearchParams(present.map(([key, value]) => [key, String(value)])).toString();
  return text && `?${text.replaceAll('%2C', ',').replaceAll('%3A', ':')}`;
}
