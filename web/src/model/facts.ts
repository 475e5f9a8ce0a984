// Records of the wire as lists of name and text, for "everything about it": one spelling for every kind of value.
import { bytes, duration, moment, text, UNKNOWN } from './format';

/** Puts one value into words by what its name says about its unit. */
export function valueInWords(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return UNKNOWN;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return numberInWords(name, value);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((item) => valueInWords(name, item)).join(', ');
  if (typeof value === 'object')
    return (
      Object.entries(value)
        .map(([key, item]) => `${key} ${valueInWords(key, item)}`)
        .join(', ') || UNKNOWN
    );
  return String(value);
}

const BYTES = /(^|_)(bytes|bs|size|offset|offset_increment|length|blockalign|min|max)$/;

function numberInWords(name: string, value: number): string {
  if (name.endsWith('_at_ms')) return moment(value);
  if (name.endsWith('_ms')) return duration(value);
  if (name.endsWith('_us')) return duration(value / 1000);
  if (BYTES.test(name)) return text(bytes(value));
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

/** All fields of a record as name and words; `leaveOut` names those that are shown elsewhere. */
export function factsOf(record: object, leaveOut: readonly string[] = []): [name: string, words: string][] {
  return Object.entries(record)
    .filter(([name]) => !leaveOut.includes(name))
    .map(([name, value]) => [name, valueInWords(name, value)]);
}
