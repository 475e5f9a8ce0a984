// Routes. A page's code is loaded on the first visit. State worth sharing is in the URL.
import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { GROUP_KEYS } from '../model/compare/selection';
import { Crash, NotFound } from './fallbacks';
import { Frame } from './frame';
import { lazyPage } from './lazy-page';
import { readSearch, writeSearch } from './search';

const root = createRootRoute({
  component: Frame,
  notFoundComponent: NotFound,
  errorComponent: Crash,
});

const at = <P extends string>(path: P) => ({ getParentRoute: () => root, path });
type Raw = Record<string, string | undefined>;
const only = <K extends string>(search: Raw, ...keys: K[]): { [key in K]?: string } =>
  Object.fromEntries(keys.filter((key) => search[key]).map((key) => [key, search[key]])) as {
    [key in K]?: string;
  };

const home = createRoute({
  ...at('/'),
  beforeLoad: () => {
    throw redirect({ to: '/runs' });
  },
});
const newRun = createRoute({
  ...at('/new'),
  validateSearch: (search: Raw) => only(search, 'from', 'study', 'import'),
  component: lazyPage(() => import('../pages/new-run/page'), 'NewRunPage'),
});
const runs = createRoute({
  ...at('/runs'),
  validateSearch: (search: Raw) => only(search, 'q', 'sort', 'order', 'columns'),
  component: lazyPage(() => import('../pages/runs/page'), 'RunsPage'),
});
const run = createRoute({
  ...at('/runs/$n'),
  validateSearch: (search: Raw) => only(search, 'from', 'to'),
  component: lazyPage(() => import('../pages/run/page'), 'RunPage'),
});
const compare = createRoute({
  ...at('/compare'),
  validateSearch: (search: Raw) => only(search, 'runs', 'baseline', 'threshold', ...GROUP_KEYS),
  component: lazyPage(() => import('../pages/compare/page'), 'ComparePage'),
});
const studies = createRoute({
  ...at('/studies'),
  component: lazyPage(() => import('../pages/studies/page'), 'StudiesPage'),
});
const study = createRoute({
  ...at('/studies/$n'),
  component: lazyPage(() => import('../pages/study/page'), 'StudyPage'),
});
const trends = createRoute({
  ...at('/trends'),
  component: lazyPage(() => import('../pages/trends/page'), 'TrendsPage'),
});
const trend = createRoute({
  ...at('/trends/$job/$machine'),
  validateSearch: (search: Raw) => only(search, 'metric', 'run', 'last'),
  component: lazyPage(() => import('../pages/trend/page'), 'TrendPage'),
});
const schedules = createRoute({
  ...at('/schedules'),
  component: lazyPage(() => import('../pages/schedules/page'), 'SchedulesPage'),
});
const settings = createRoute({
  ...at('/settings'),
  component: lazyPage(() => import('../pages/settings/page'), 'SettingsPage'),
});
const devices = createRoute({
  ...at('/devices'),
  component: lazyPage(() => import('../pages/devices/page'), 'DevicesPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    newRun,
    runs,
    run,
    studies,
    study,
    compare,
    trends,
    trend,
    schedules,
    devices,
    settings,
  ]),
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  // Errors are shown inside the frame, so its navigation stays usable.
  defaultErrorComponent: Crash,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
