// Settings of a comparison. The server tells each as a short text: `4096`, `4096-65536` for a range, `4096,8192,-` where
// reads, writes and trims differ, `4096 8192` for several targets, `bytes=4096/percent=50` for shares. Where the name tells
// a unit, the numbers in it get theirs; a text of any other shape stays as it is.
import { DIRECTIONS, formatField, hasUnit } from '../format/fields';
import { UNKNOWN } from '../format/numbers';

/** A setting as the server wrote it, with its units. */
export function formatSetting(name: string, value: string): string {
  const last = name.split('.').at(-1) ?? name;
  if (/^\d+$/.test(value)) return formatField(last, Number(value));
  return (hasUnit(last) ? byDirection(last, value) : null) ?? value;
}

/** The text in words; null where it has another shape. */
type Reader = (name: string, value: string) => string | null;

const byDirection: Reader = (name, value) => {
  const parts = value.split(',');
  if (parts.length !== DIRECTIONS.length) return several(name, value);
  return joined(parts.map((part, i) => prefixed(DIRECTIONS[i] ?? '', several(name, part))));
};

const several: Reader = (name, value) => joined(value.split(' ').map((part) => one(name, part)));

const one: Reader = (name, value) => {
  if (value === '-') return UNKNOWN;
  if (value.includes('=')) return joined(value.split('/').map(named), ' ');
  const ends = value.split('-').map((end) => whole(name, end));
  return ends.length <= 2 ? joined(ends, ' to ') : null;
};

function named(field: string): string | null {
  const [name = '', value = '', ...more] = field.split('=');
  return more.length === 0 ? whole(name, value) : null;
}

const whole: Reader = (name, value) =>
  /^\d+$/.test(value) ? formatField(name, Number(value)) : null;

const prefixed = (word: string, text: string | null) => text && `${word} ${text}`;

const joined = (parts: readonly (string | null)[], between = ', ') =>
  parts.includes(null) ? null : parts.join(between);
