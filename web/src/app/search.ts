// The part of an address behind the `?`, as plain text: what a person would write and a chat program leaves alone.

/** Reads `?runs=1,2&baseline=1`. */
export function readSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

/** Writes it; what is empty is left out, commas and colons stay readable. */
export function writeSearch(values: Record<string, unknown>): string {
  const said = Object.entries(values).filter(
    ([, value]) => value !== undefined && value !== null && value !== '',
  );
  const text = new URLSearchParams(said.map(([key, value]) => [key, String(value)])).toString();
  return text && `?${text.replaceAll('%2C', ',').replaceAll('%3A', ':')}`;
}
