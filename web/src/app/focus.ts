// Keyboard focus after navigation: the activated element (a Start button) may be removed with its page.
import type { AnyRouter } from '@tanstack/react-router';

/** Moves a lost focus to the new page. Returns the unsubscribe function. */
export function keepFocus(router: Pick<AnyRouter, 'subscribe'>): () => void {
  return router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (fromLocation && pathChanged && isLost)
      document.getElementById('content')?.focus({ preventScroll: true });
  });
}
