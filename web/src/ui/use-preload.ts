// Fetching the code of a page before it is opened, where it is clear which page comes next.
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Makes the page of a run ready while somebody still builds one: the first sample must not wait for code. */
export function usePreloadRunPage() {
  const router = useRouter();
  useEffect(() => {
    void router.preloadRoute({ to: '/runs/$n', params: { n: '0' } });
  }, [router]);
}
