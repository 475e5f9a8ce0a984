// Skips redraws of a chart while it is scrolled out of view.
import type { ChartGroup } from './chart-group';

/**
 * Calls `redraw` after each flush while `element` is visible. If flushes occurred while it was not
 * visible, calls `redraw` when it becomes visible. Returns a stop function.
 */
export function whileVisible(
  element: HTMLElement | null,
  redraw: () => void,
  chartGroup: ChartGroup,
): () => void {
  let isVisible = true;
  let isCurrent = false;
  const draw = () => {
    isCurrent = isVisible;
    if (isVisible) redraw();
  };
  const stop = chartGroup.onFlush(draw);
  const observer =
    element && typeof IntersectionObserver !== 'undefined'
      ? new IntersectionObserver(([entry]) => {
          isVisible = entry?.isIntersecting ?? true;
          if (!isCurrent) draw();
        })
      : null;
  if (element) observer?.observe(element);
  return () => {
    observer?.disconnect();
    stop();
  };
}
