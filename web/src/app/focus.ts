// Restores keyboard focus after navigation: the focused element (such as a Start button) may have
// been removed together with its page.
import type { AnyRouter } from '@tanstack/react-router';

/** Moves focus to the new page if the focused element was removed. Returns a stop function. */
export function restoreFocus(router: Pick<AnyRouter, 'subscribe'>): () => void {
  return router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (fromLocation && pathChanged && isLost)
      document.getElementById('content')?.focus({ preventScroll: true });
  });
}
