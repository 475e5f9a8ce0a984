// Preloading of page code.

import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Loads the code of the run page early, so that the first sample is not delayed by it. */
export function usePreloadRunPage() {
  const router = useRouter();
  useEffect(() => {
    void router.preloadRoute({ to: '/runs/$n', params: { n: '0' } });
  }, [router]);
}
