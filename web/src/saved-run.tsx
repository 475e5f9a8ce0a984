// Entry point of a saved run: one HTML file that contains the run and its time series.
import './styles';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  type RegisteredRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import type { SavedRun } from './api';
import { queryClient, runQuery } from './api/queries';
import { SavedFrame } from './app/saved-frame';
import { RunPage } from './pages/run/page';
import { runSeriesQuery } from './pages/run/series-query';
import { SavedContext } from './ui/saved';
import { theme, variables } from './ui/theme';

const saved: SavedRun = JSON.parse(document.getElementById('saved')?.textContent ?? '');
const { number } = saved.run;
queryClient.setQueryData(runQuery(number).queryKey, saved.run);
queryClient.setQueryData(runSeriesQuery(number).queryKey, saved.series);

const root = createRootRoute({ component: () => <SavedFrame saved={saved} /> });
const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$n',
  component: RunPage,
});
const router = createRouter({
  routeTree: root.addChildren([run]),
  history: createMemoryHistory({ initialEntries: [`/runs/${number}`] }),
});

const container = document.getElementById('root');
if (container) {
  createRoot(container).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <SavedContext value={true}>
            {/* A saved page has fewer routes than the registered router. */}
            <RouterProvider router={router as unknown as RegisteredRouter} />
          </SavedContext>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
