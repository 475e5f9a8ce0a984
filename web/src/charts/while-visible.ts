// Redraws of charts that are scrolled out of view are skipped.
import type { ChartGroup } from './chart-group';

/**
 * Calls `redraw` when `element` becomes visible, and at every flush while it is visible. Returns a
 * stop function.
 */
export function whileVisible(
  element: HTMLElement | null,
  redraw: () => void,
  onFlush: ChartGroup['onFlush'],
): () => void {
  let visible = true;
  const stop = onFlush(() => visible && redraw());
  if (!element || typeof IntersectionObserver === 'undefined') return stop;
  const observer = new IntersectionObserver(([entry]) => {
    visible = entry?.isIntersecting ?? true;
    if (visible) redraw();
  });
  observer.observe(element);
  return () => {
    observer.disconnect();
    stop();
  };
}
