// Formats a comparison's settings. The server sends `4096`, ranges as `4096-65536`, directions as
// `4096,8192,-`, targets as `4096 8192`, shares as `bytes=4096/percent=50`. Numbers get the unit
// implied by the setting's name; other text is unchanged.
import { DIRECTIONS, formatField, hasUnit } from '../format/fields';
import { UNKNOWN } from '../format/numbers';

export function formatSetting(path: string, value: string): string {
  const name = path.split('.').at(-1) ?? path;
  if (/^\d+$/.test(value)) return formatField(name, Number(value));
  return (hasUnit(name) ? formatDirections(name, value) : null) ?? value;
}

/** Returns null if the text has a different format. */
type Formatter = (name: string, value: string) => string | null;

const formatDirections: Formatter = (name, value) => {
  const parts = value.split(',');
  if (parts.length !== DIRECTIONS.length) return formatTargets(name, value);
  return join(
    parts.map((part, i) => {
      const text = formatTargets(name, part);
      return text && `${DIRECTIONS[i]} ${text}`;
    }),
  );
};

const formatTargets: Formatter = (name, value) =>
  join(value.split(' ').map((part) => formatPart(name, part)));

const formatPart: Formatter = (name, value) => {
  if (value === '-') return UNKNOWN;
  if (value.includes('=')) return join(value.split('/').map(formatShare), ' ');
  const ends = value.split('-').map((end) => formatNumber(name, end));
  return ends.length <= 2 ? join(ends, ' to ') : null;
};

function formatShare(field: string): string | null {
  const [name = '', value = '', ...rest] = field.split('=');
  return rest.length === 0 ? formatNumber(name, value) : null;
}

const formatNumber: Formatter = (name, value) =>
  /^\d+$/.test(value) ? formatField(name, Number(value)) : null;

/** Returns null if any part could not be formatted. */
const join = (parts: readonly (string | null)[], separator = ', ') =>
  parts.includes(null) ? null : parts.join(separator);
