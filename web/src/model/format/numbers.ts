// How numbers look: the one spelling of counts, sizes, rates, latencies and times. Every number leaves with its unit;
// what is not known is an en dash, never a zero. Sizes are binary (KiB), rates stand as `MiB/s (MB/s)` as in fio.

/** What stands where nothing is known. */
export const UNKNOWN = '–';

/** A number for the screen: digits and unit apart, so that the unit may be set smaller. */
export interface Figure {
  value: string;
  unit: string;
}

/** A no-break space, so that a number never parts from its unit. */
const NBSP = '\u00a0';
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

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const one = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const two = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

type Known = number | null | undefined;
const isKnown = (n: Known): n is number => n !== null && n !== undefined && Number.isFinite(n);

/** Three significant digits: 1.21, 87.9, 812, 3,172; whole numbers stay whole below 100. */
export function digits(n: number): string {
  const size = Math.abs(n);
  if (size >= 99.95 || (Number.isInteger(n) && size < 100)) return whole.format(n);
  return size >= 9.995 ? one.format(n) : two.format(n);
}

function scaled(n: Known, steps: readonly Step[]): Figure {
  if (!isKnown(n)) return { value: UNKNOWN, unit: '' };
  // 999.6 would be rounded up to 1,000 of the smaller unit.
  const fits = ([factor]: Step) => Math.abs(n) >= factor * 0.9995;
  const [factor, unit] = steps.findLast(fits) ?? steps[0] ?? [1, ''];
  return { value: digits(n / factor), unit };
}

/** A figure as one text. */
export function text({ value, unit }: Figure): string {
  return unit === '' ? value : `${value}${NBSP}${unit}`;
}

/** Every digit: 1,634,210. */
export const count = (n: Known): string => (isKnown(n) ? whole.format(n) : UNKNOWN);
/** Three digits: 87.9 k. */
export const shortCount = (n: Known): Figure =>
  scaled(isKnown(n) && n < 1000 ? Math.round(n) : n, COUNT);
/** Bytes: 1.50 GiB. */
export const bytes = (n: Known): Figure => scaled(n, BYTES);
/** Bytes a second in binary units: 343 MiB/s. */
export const rate = (n: Known): Figure => {
  const { value, unit } = bytes(n);
  return { value, unit: unit && `${unit}/s` };
};
/** Bytes a second in decimal units: 360 MB/s. */
export const decimalRate = (n: Known): Figure => scaled(n, DECIMAL_RATE);
/** A latency in ns: 362 µs. */
export const latency = (ns: Known): Figure => scaled(ns, LATENCY);
/** A percentage that is already one: 99.6 %. */
export const percent = (n: Known): Figure =>
  isKnown(n) ? { value: digits(n), unit: '%' } : { value: UNKNOWN, unit: '' };

/** A rate the way fio writes it: 343 MiB/s (360 MB/s). */
export function fioRate(n: Known): string {
  return isKnown(n) ? `${text(rate(n))} (${text(decimalRate(n))})` : UNKNOWN;
}

/** A share from 0 to 1 that never claims all or nothing falsely: 99.99 %, <0.1 %. */
export function share(part: Known): string {
  if (!isKnown(part)) return UNKNOWN;
  const value = part * 100;
  if (value > 0 && value < 0.1) return `<0.1${NBSP}%`;
  if (value > 99.9 && value < 100) return `${two.format(Math.min(value, 99.99))}${NBSP}%`;
  return `${value >= 9.95 && !(value > 99 && value < 100) ? whole.format(value) : digits(value)}${NBSP}%`;
}

/** A length of time in ms: 0.5 s, 41 s, 1 min 20 s, 2 h 3 min. */
export function duration(ms: Known): string {
  if (!isKnown(ms)) return UNKNOWN;
  if (ms === 0) return `0${NBSP}s`;
  if (ms < 1) return text(latency(ms * 1e6));
  if (ms < 1000) return `${whole.format(ms)}${NBSP}ms`;
  if (ms < 59_950)
    return `${ms % 1000 < 50 || ms % 1000 > 950 ? whole.format(ms / 1000) : one.format(ms / 1000)}${NBSP}s`;
  const seconds = Math.round(ms / 1000);
  const [hours, minutes, rest] = [
    Math.floor(seconds / 3600),
    Math.floor((seconds % 3600) / 60),
    seconds % 60,
  ];
  const parts =
    hours > 0
      ? [
          [hours, 'h'],
          [minutes, 'min'],
        ]
      : [
          [minutes, 'min'],
          [rest, 's'],
        ];
  return parts
    .filter(([n]) => n !== 0)
    .map(([n, unit]) => `${n}${NBSP}${unit}`)
    .join(' ');
}

const stamp = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const sameDay = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const otherDay = new Intl.DateTimeFormat('en-GB', {
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
});

/** A moment in full, in the reader's time zone: 20 Nov 2026, 13:04:05. */
export const moment = (ms: Known): string => (isKnown(ms) ? stamp.format(ms) : UNKNOWN);

const otherYear = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

/** A moment as short as it stays clear: the time today, the day and the time this year, else the date. */
export function shortMoment(ms: Known, now = Date.now()): string {
  if (!isKnown(ms)) return UNKNOWN;
  const [then, today] = [new Date(ms), new Date(now)];
  if (then.toDateString() === today.toDateString()) return sameDay.format(ms);
  return (then.getFullYear() === today.getFullYear() ? otherDay : otherYear).format(ms);
}
