// Records of the wire as lists of name and text, for "everything about it": one spelling for every kind of value.
import { bytes, count, duration, moment, percent, rate, text, UNKNOWN } from './numbers';

/** Puts one value into words by what its name says about its unit. */
export function formatField(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return UNKNOWN;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return numberInWords(name, value);
  if (Array.isArray(value))
    return value.map((item) => formatField(name, item)).join(', ') || (EMPTY[name] ?? 'none');
  if (typeof value === 'object')
    return (
      Object.entries(value)
        .map(([key, item]) => `${key} ${formatField(DIRECTIONS.includes(key) ? name : key, item)}`)
        .join(', ') || UNKNOWN
    );
  return String(value);
}

/** What an empty list says, where it is not that there is none. */
const EMPTY: Readonly<Record<string, string>> = { cpus_allowed: 'any' };

/** What stands under these has the unit of the whole. */
export const DIRECTIONS: readonly string[] = ['read', 'write', 'trim'];

/** Names that tell a unit; the first that fits counts. */
const UNITS: readonly [name: RegExp, inWords: (value: number) => string][] = [
  [/_at_ms$/, moment],
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

const unitOf = (name: string) => UNITS.find(([names]) => names.test(name))?.[1];

/** Whether the numbers under a name have a unit. */
export const hasUnit = (name: string): boolean => unitOf(name) !== undefined;

const numberInWords = (name: string, value: number): string =>
  unitOf(name)?.(value) ?? value.toLocaleString('en-US', { maximumFractionDigits: 2 });

/** All fields of a record as name and words; `leaveOut` names those that are shown elsewhere. */
export function fieldRows(
  record: object,
  leaveOut: readonly string[] = [],
): [name: string, words: string][] {
  return Object.entries(record)
    .filter(([name]) => !leaveOut.includes(name))
    .map(([name, value]) => [name, formatField(name, value)]);
}
