// Where the keyboard stands after a page made way for another: what was pressed may be gone with its page, such as Start,
// and then the focus is nowhere.
import type { AnyRouter } from '@tanstack/react-router';

/** Puts a focus that was lost on the page that came. Returns how to stop it. */
export function keepFocus(router: Pick<AnyRouter, 'subscribe'>): () => void {
  return router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (fromLocation && pathChanged && isLost)
      document.getElementById('content')?.focus({ preventScroll: true });
  });
}
