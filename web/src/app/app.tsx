// The whole page: theme, cache, sockets, routes, and the way in when the server wants a token.
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { openFeed } from '../api/feed';
import { syncCache } from '../api/follow-feed';
import { onUnauthorized } from '../api/problem';
import { queryClient } from '../api/queries';
import { theme, variables } from '../ui/theme';
import { keepFocus } from './focus';
import { router } from './router';
import { SignIn } from './sign-in';

/** Leadline in a browser. */
export function App() {
  const [signedOut, setSignedOut] = useState(false);
  useEffect(() => onUnauthorized(() => setSignedOut(true)), []);
  return (
    <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        {/* Reloaded where it stands: all that was refused is asked for anew. */}
        {signedOut ? <SignIn onSignedIn={() => location.reload()} /> : <Signed />}
      </QueryClientProvider>
    </MantineProvider>
  );
}

function Signed() {
  useEffect(() => {
    const stops = [syncCache(), openFeed(), keepFocus(router)];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  return <RouterProvider router={router} />;
}
