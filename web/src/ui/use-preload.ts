// Preloads page code.

import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { onFirstInteraction } from './on-demand';

/**
 * Loads the run page's code on the first interaction, so that it delays neither the current
 * page nor the first sample.
 */
export function usePreloadRunPage() {
  const router = useRouter();
  useEffect(
    () =>
      onFirstInteraction(() => void router.preloadRoute({ to: '/runs/$n', params: { n: '0' } })),
    [router],
  );
}
