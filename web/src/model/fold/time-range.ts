// Which stretch of time the charts of a run show when nothing is zoomed: the planned window while it fills, so that the
// lines grow into a standing picture, and what there is when it is over or has no planned end.
import { isFinal, type RunFold } from './run-fold';
import { originMs } from './series-view';

/** Longer plans would squeeze the first seconds into nothing; then the picture grows instead, in ms. */
const LONGEST_STANDING_MS = 180_000;
/** The least that is shown while more may come, in seconds. */
const LEAST_S = 2;

/** Beginning and end in seconds since the measured window began. */
export function timeRange(fold: RunFold): { from: number; to: number } {
  const { points } = fold.series;
  const [first, last] = [points[0]?.window, points.at(-1)?.window];
  const seconds = (ms: number) => (ms - originMs(fold)) / 1000;
  const from = first ? Math.min(0, seconds(first.end_ms - first.length_ms)) : 0;
  const reached = last ? seconds(last.end_ms) : 0;
  const planned = fold.accepted?.measure_ms ?? null;
  const over = isFinal(fold.status) && reached > 0;
  const standing = planned !== null && planned <= LONGEST_STANDING_MS && !over;
  return { from, to: over ? reached : Math.max(LEAST_S, standing ? planned / 1000 : 0, reached) };
}
