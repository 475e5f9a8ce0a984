// Preloading of page code.

import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Loads the run page's code early, so that it does not delay the first sample. */
export function usePreloadRunPage() {
  const router = useRouter();
  useEffect(() => {
    void router.preloadRoute({ to: '/runs/$n', params: { n: '0' } });
  }, [router]);
}
