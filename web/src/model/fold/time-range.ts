// The time range of charts that are not zoomed. For an active run, this is the planned duration, so
// the axis does not move. If the run has finished or has no planned end, it is the measured range.
import { isFinal, type RunFold } from './run-fold';
import { originMs } from './series-view';

/**
 * Maximum planned duration for a fixed axis. A growing axis changes all pixels with every sample,
 * so it is redrawn more often than a fixed one. With longer plans, however, a fixed axis would
 * compress the first minute, so the axis grows.
 */
const MAX_FIXED_MS = 600_000;
const MIN_LIVE_S = 2;

/** In seconds since the start of the measurement. */
export function timeRange(fold: RunFold): { from: number; to: number } {
  const { points } = fold.series;
  const first = points[0]?.window;
  const last = points.at(-1)?.window;
  const seconds = (ms: number) => (ms - originMs(fold)) / 1000;
  const from = first ? Math.min(0, seconds(first.end_ms - first.length_ms)) : 0;
  const measured = last ? seconds(last.end_ms) : 0;
  if (isFinal(fold.status) && measured > 0) return { from, to: measured };
  const planned_ms = fold.accepted?.measure_ms ?? 0;
  const fixed = planned_ms <= MAX_FIXED_MS ? planned_ms / 1000 : 0;
  return { from, to: Math.max(MIN_LIVE_S, fixed, measured) };
}
