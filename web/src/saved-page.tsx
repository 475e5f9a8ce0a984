// Entry point for a saved page, a single HTML file that contains a run or a study with its time
// series.
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
import type { SavedRun, SavedStudy } from './api';
import {
  compareSeriesQuery,
  procedureQuery,
  queryClient,
  runQuery,
  studyQuery,
} from './api/queries';
import { SavedFrame } from './app/saved-frame';
import { seriesParameters } from './model/compare/group-time-series';
import { RunPage } from './pages/run/page';
import { runSeriesQuery } from './pages/run/series-query';
import { studyComparisonQuery } from './pages/study/comparison-query';
import { StudyPage } from './pages/study/page';
import { SavedContext } from './ui/saved';
import { theme, variables } from './ui/theme';

const saved: SavedRun | SavedStudy = JSON.parse(
  document.getElementById('saved')?.textContent ?? '',
);
const path = 'study' in saved ? cacheStudy(saved) : cacheRun(saved);

/** Fills the query cache with a saved run. Returns its page's path. */
function cacheRun({ run, series }: SavedRun): string {
  queryClient.setQueryData(runQuery(run.number).queryKey, run);
  queryClient.setQueryData(runSeriesQuery(run.number).queryKey, series);
  return `/runs/${run.number}`;
}

/** Fills the query cache with a saved study. Returns its page's path. */
function cacheStudy({ study, comparison, procedure, runs, series }: SavedStudy): string {
  queryClient.setQueryData(studyQuery(study.number).queryKey, study);
  if (comparison) {
    queryClient.setQueryData(studyComparisonQuery(study).queryKey, comparison);
    if (series)
      queryClient.setQueryData(compareSeriesQuery(seriesParameters(comparison)).queryKey, series);
  }
  if (procedure) queryClient.setQueryData(procedureQuery(study.number, -1).queryKey, procedure);
  for (const run of runs) queryClient.setQueryData(runQuery(run.number).queryKey, run);
  return `/studies/${study.number}`;
}

const root = createRootRoute({ component: () => <SavedFrame saved={saved} /> });
const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$n',
  component: RunPage,
});
const study = createRoute({
  getParentRoute: () => root,
  path: '/studies/$n',
  component: StudyPage,
});
const router = createRouter({
  routeTree: root.addChildren([run, study]),
  history: createMemoryHistory({ initialEntries: [path] }),
});

const container = document.getElementById('root');
if (container) {
  createRoot(container).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={variables}
        defaultColorScheme="auto"
        // As in app.tsx, Mantine's style sheet with the defaults is not needed.
        deduplicateCssVariables={false}
      >
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
