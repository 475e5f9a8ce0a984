// Formats counts, sizes, rates and latencies. Every number has a unit. Unknown values are shown
// as an en dash, never as zero. Sizes are binary (KiB).

/** Text for an unknown value. */
export const UNKNOWN = '–';

/** A number and its unit, which may be styled differently. */
export interface Figure {
  value: string;
  unit: string;
}

/** No-break space between number and unit. */
export const NBSP = '\u00a0';
type Step = readonly [factor: number, unit: string];

const COUNT: readonly Step[] = [
  [1, ''],
  [1e3, 'k'],
  [1e6, 'M'],
  [1e9, 'G'],
];
const BYTES: readonly Step[] = [
  [1, 'B'],
  [2 ** 10, 'KiB'],
  [2 ** 20, 'MiB'],
  [2 ** 30, 'GiB'],
  [2 ** 40, 'TiB'],
  [2 ** 50, 'PiB'],
];
const DECIMAL_RATE: readonly Step[] = [
  [1, 'B/s'],
  [1e3, 'kB/s'],
  [1e6, 'MB/s'],
  [1e9, 'GB/s'],
];
const LATENCY: readonly Step[] = [
  [1, 'ns'],
  [1e3, 'µs'],
  [1e6, 'ms'],
  [1e9, 's'],
];

export const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
export const oneDecimal = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const twoDecimals = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
});

export type Known = number | null | undefined;
export const isKnown = (n: Known): n is number =>
  n !== null && n !== undefined && Number.isFinite(n);

/** Three significant digits: 1.21, 87.9, 812, 3,172; whole numbers stay whole below 100. */
export function digits(n: number): string {
  const size = Math.abs(n);
  if (size >= 99.95 || (Number.isInteger(n) && size < 100)) return whole.format(n);
  return size >= 9.995 ? oneDecimal.format(n) : twoDecimals.format(n);
}

function scaled(n: Known, steps: readonly Step[]): Figure {
  if (!isKnown(n)) return { value: UNKNOWN, unit: '' };
  // The factor accounts for rounding: otherwise, 999.6 would be shown as 1,000 of the smaller unit.
  const fits = ([factor]: Step) => Math.abs(n) >= factor * 0.9995;
  const [factor, unit] = steps.findLast(fits) ?? steps[0] ?? [1, ''];
  return { value: digits(n / factor), unit };
}

export function text({ value, unit }: Figure): string {
  return unit === '' ? value : `${value}${NBSP}${unit}`;
}

/** All digits: 1,634,210. */
export const count = (n: Known): string => (isKnown(n) ? whole.format(n) : UNKNOWN);
/** A count and its noun, such as 1 run or 1,200 runs. */
export const plural = (n: number, noun: string): string =>
  `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
/** Three digits: 87.9 k. */
export const shortCount = (n: Known): Figure =>
  scaled(isKnown(n) && n < 1000 ? Math.round(n) : n, COUNT);
/** 1.50 GiB. */
export const bytes = (n: Known): Figure => scaled(n, BYTES);
/** 343 MiB/s. */
export const rate = (n: Known): Figure => {
  const { value, unit } = bytes(n);
  return { value, unit: unit && `${unit}/s` };
};
/** 360 MB/s. */
export const decimalRate = (n: Known): Figure => scaled(n, DECIMAL_RATE);
/** 362 µs. */
export const latency = (ns: Known): Figure => scaled(ns, LATENCY);
/** A percentage from 0 to 100: 99.6 %. */
export const percent = (n: Known): Figure =>
  isKnown(n) ? { value: digits(n), unit: '%' } : { value: UNKNOWN, unit: '' };

/** As in fio: 343 MiB/s (360 MB/s). */
export function fioRate(n: Known): string {
  return isKnown(n) ? `${text(rate(n))} (${text(decimalRate(n))})` : UNKNOWN;
}

/** A ratio from 0 to 1 as a percentage. It is never rounded to 0 % or 100 %: 99.99 %, <0.1 %. */
export function share(ratio: Known): string {
  if (!isKnown(ratio)) return UNKNOWN;
  const value = ratio * 100;
  if (value > 0 && value < 0.1) return `<0.1${NBSP}%`;
  if (value > 99.9 && value < 100) return `${twoDecimals.format(Math.min(value, 99.99))}${NBSP}%`;
  const isWhole = value >= 9.95 && !(value > 99 && value < 100);
  return `${isWhole ? whole.format(value) : digits(value)}${NBSP}%`;
}
