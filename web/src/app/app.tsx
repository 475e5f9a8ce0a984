// Providers, sockets and routes. If the server requires a token, shows the sign-in page instead.
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { syncCache } from '../api/cache-sync';
import { openFeed } from '../api/feed';
import { onUnauthorized } from '../api/problem';
import { queryClient } from '../api/queries';
import { theme, variables } from '../ui/theme';
import { Toasts } from '../ui/toasts';
import { restoreFocus } from './focus';
import { router } from './router';

/** Loaded on demand, because signed-in users do not need it. */
const SignIn = lazy(() => import('./sign-in').then(({ SignIn }) => ({ default: SignIn })));

export function App() {
  const [signedOut, setSignedOut] = useState(false);
  useEffect(() => onUnauthorized(() => setSignedOut(true)), []);
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      // All variables are generated here, so Mantine's style sheet with the defaults is not needed.
      // It is as large as all other styles on the first page combined.
      deduplicateCssVariables={false}
    >
      <QueryClientProvider client={queryClient}>
        <Toasts />
        {signedOut || isSignIn ? (
          <Suspense>
            <SignIn onSignedIn={openApplication} />
          </Suspense>
        ) : (
          <SignedIn />
        )}
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** Path that sign-in links open. */
const isSignIn = location.pathname === '/login';

/** Reloading the page retries the requests that were rejected. */
const openApplication = () => (isSignIn ? location.replace('/') : location.reload());

function SignedIn() {
  useEffect(() => {
    const stops = [syncCache(), openFeed(), restoreFocus(router)];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  return <RouterProvider router={router} />;
}
