// Schedules the redraws of a chart: none while it is scrolled out of view, and none before its time
// axis can have moved by a pixel.
import type { ChartGroup, Range } from './chart-group';

/** In long runs, values in the legend are at most this old, in ms. */
const MAX_INTERVAL_MS = 1000;

/** The time that one of `width` pixels covers, in ms. */
export const pixelMs = ({ from, to }: Range, width: number): number =>
  Math.min(MAX_INTERVAL_MS, ((to - from) * 1000) / Math.max(1, width));

/**
 * Calls `redraw` when `element` becomes visible and after flushes while it is visible: at once if
 * `intervalMs` has passed since the last redraw or the zoom has changed, otherwise when it has
 * passed. Returns a stop function.
 */
export function whileVisible(
  element: HTMLElement | null,
  redraw: () => void,
  chartGroup: ChartGroup,
  intervalMs: () => number,
): () => void {
  let visible = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawn = { zoom: chartGroup.zoom, at_ms: Number.NEGATIVE_INFINITY };
  const draw = () => {
    clearTimeout(timer);
    timer = undefined;
    if (!visible) return;
    drawn = { zoom: chartGroup.zoom, at_ms: performance.now() };
    redraw();
  };
  const stop = chartGroup.onFlush(() => {
    const wait_ms = drawn.at_ms + intervalMs() - performance.now();
    if (wait_ms <= 0 || chartGroup.zoom !== drawn.zoom) draw();
    else timer ??= setTimeout(draw, wait_ms);
  });
  const observer =
    element && typeof IntersectionObserver !== 'undefined'
      ? new IntersectionObserver(([entry]) => {
          visible = entry?.isIntersecting ?? true;
          draw();
        })
      : null;
  if (element) observer?.observe(element);
  return () => {
    clearTimeout(timer);
    observer?.disconnect();
    stop();
  };
}
