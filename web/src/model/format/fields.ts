// Formats API records for detail views. Units are derived from field names.
import { bytes, count, percent, rate, text, UNKNOWN } from './numbers';
import { dateTime, duration } from './time';

/** Nested fields with these names have their parent field's unit. */
export const DIRECTIONS: readonly string[] = ['read', 'write', 'trim'];

/** Text to show for an empty list, by field name. The default is "none". */
const EMPTY_LISTS: Readonly<Record<string, string>> = { cpus_allowed: 'any' };

/** Formatters by field name. The first match is used. */
const FORMATS: readonly [name: RegExp, format: (value: number) => string][] = [
  [/_at_ms$/, dateTime],
  [/_ms$/, duration],
  [/_us$/, (value) => duration(value / 1000)],
  [
    /(^|_)(bytes|bs|size|offset|offset_increment|length|blockalign|alignment|min|max)$/,
    (value) => text(bytes(value)),
  ],
  [/(^|_)rate$/, (value) => text(rate(value))],
  [/(^|_)iops$/, (value) => text({ value: count(value), unit: 'IOPS' })],
  [/(^|_)percent(age)?(_|$)|^rwmixread$/, (value) => text(percent(value))],
];

const formatOf = (name: string) => FORMATS.find(([names]) => names.test(name))?.[1];

export const hasUnit = (name: string): boolean => formatOf(name) !== undefined;

export function formatField(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return UNKNOWN;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return formatNumber(name, value);
  if (Array.isArray(value)) {
    const items = value.map((item) => formatField(name, item));
    return items.join(', ') || (EMPTY_LISTS[name] ?? 'none');
  }
  if (typeof value === 'object') {
    const fields = Object.entries(value).map(
      ([key, item]) => `${key} ${formatField(DIRECTIONS.includes(key) ? name : key, item)}`,
    );
    return fields.join(', ') || UNKNOWN;
  }
  return String(value);
}

const formatNumber = (name: string, value: number): string =>
  formatOf(name)?.(value) ?? value.toLocaleString('en-US', { maximumFractionDigits: 2 });

/** Names and formatted values of all fields that are not in `omit`. */
export function fieldRows(
  record: object,
  omit: readonly string[] = [],
): [name: string, value: string][] {
  return Object.entries(record)
    .filter(([name]) => !omit.includes(name))
    .map(([name, value]) => [name, formatField(name, value)]);
}
