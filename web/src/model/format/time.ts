// Formats durations and dates.
import { isKnown, type Known, latency, NBSP, oneDecimal, text, UNKNOWN, whole } from './numbers';

/** 500 ms, 4.5 s, 41 s, 1 min 20 s, 2 h 3 min. */
export function duration(ms: Known): string {
  if (!isKnown(ms)) return UNKNOWN;
  if (ms === 0) return `0${NBSP}s`;
  if (ms < 1) return text(latency(ms * 1e6));
  if (ms < 1000) return `${whole.format(ms)}${NBSP}ms`;
  if (ms < 59_950) {
    const isWhole = ms % 1000 < 50 || ms % 1000 > 950;
    return `${(isWhole ? whole : oneDecimal).format(ms / 1000)}${NBSP}s`;
  }
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joinUnits([minutes, 'min'], [seconds % 60, 's']);
  return joinUnits([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min']);
}

const joinUnits = (...parts: [n: number, unit: string][]) =>
  parts
    .filter(([n]) => n !== 0)
    .map(([n, unit]) => `${n}${NBSP}${unit}`)
    .join(' ');

const HOUR_MINUTE = { hour: '2-digit', minute: '2-digit' } as const;
const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', { hourCycle: 'h23', ...options });
const full = format({ dateStyle: 'medium', timeStyle: 'medium' });
const sameDay = format({ ...HOUR_MINUTE, second: '2-digit' });
const sameYear = format({ ...HOUR_MINUTE, month: 'short', day: '2-digit' });
const otherYear = format({ dateStyle: 'medium' });

/** Nov 20, 2026, 13:04:05 in the local time zone. */
export const dateTime = (ms: Known): string => (isKnown(ms) ? full.format(ms) : UNKNOWN);

const dayThisYear = format({ month: 'short', day: 'numeric' });
const dayOtherYear = format({ month: 'short', day: 'numeric', year: 'numeric' });

/** Nov 20. The year is included if it is not the current one. */
export function shortDate(ms: Known, now = Date.now()): string {
  if (!isKnown(ms)) return UNKNOWN;
  const isThisYear = new Date(ms).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? dayThisYear : dayOtherYear).format(ms);
}

/**
 * Today: the time. Earlier this year: the date without the year, and the time. Otherwise: the date.
 */
export function shortDateTime(ms: Known, now = Date.now()): string {
  if (!isKnown(ms)) return UNKNOWN;
  const date = new Date(ms);
  const today = new Date(now);
  if (date.toDateString() === today.toDateString()) return sameDay.format(ms);
  return (date.getFullYear() === today.getFullYear() ? sameYear : otherYear).format(ms);
}
