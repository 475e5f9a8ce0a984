// Cached queries: the generated options plus this application's caching rules. Updates from
// the feed are in `cache-sync`. Samples never go through this cache.
import { keepPreviousData, QueryClient, queryOptions } from '@tanstack/react-query';
import * as generated from './generated/@tanstack/react-query.gen';
import type {
  CompareRunsData,
  CompareSeriesData,
  GetSeriesData,
  GetTrendData,
  ImportRequest,
  ListRunsData,
  Run,
  RunList,
  RunRequest,
  ScheduleRequest,
  Study,
  StudyDefinition,
  StudyList,
  TrendList,
} from './generated/types.gen';
// Import from the index, because it configures the client and its error interceptor.
import { ApiProblem, getHost, listDevices } from './index';

export type RunFilter = Omit<NonNullable<ListRunsData['query']>, 'cursor' | 'limit'>;

/** Rows per page of a list, about three screens. */
const PAGE_SIZE = 100;

/** Retries only calls that got no response. */
const retry = (failures: number, error: Error) =>
  failures < 3 && !(error instanceof ApiProblem && error.status !== 0);

/** Nothing is refetched until `cache-sync` invalidates it. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry, refetchOnWindowFocus: false, staleTime: Number.POSITIVE_INFINITY },
  },
});

/** The feed has no events for hosts. The server caches host checks for about as long. */
const HOST = { staleTime: 30_000 };
/** Confirmation codes expire after 10 minutes, so plans that need them are refetched earlier. */
const NEW_CODES_MS = 4 * 60_000;
const refetchInterval = ({
  state: { data },
}: {
  state: { data?: { confirmations?: unknown[] } };
}) => (data?.confirmations?.length ? NEW_CODES_MS : false);
/** A plan depends on files and devices, so it becomes stale quickly. */
const PLAN = {
  placeholderData: keepPreviousData,
  retry: false,
  staleTime: 5000,
  refetchInterval,
} as const;

/** Key prefix of all run lists, regardless of filter. */
export const RUNS_KEY = [{ _id: 'listRuns' }] as const;

export const runsQuery = (filter: RunFilter) => ({
  ...generated.listRunsInfiniteOptions({ query: { ...filter, limit: PAGE_SIZE } }),
  initialPageParam: {},
  getNextPageParam: (page: RunList) => page.next_cursor ?? undefined,
  placeholderData: keepPreviousData,
});

/** Changes only when the page is reloaded. */
export const sessionQuery = generated.getSessionOptions();

export const runQuery = (n: number) => generated.getRunOptions({ path: { n } });

/** Buckets of a finished run's time series; times are in ms since the start of the measurement. */
export const seriesQuery = (n: number, query: NonNullable<GetSeriesData['query']>) => ({
  ...generated.getSeriesOptions({ path: { n }, query }),
  placeholderData: keepPreviousData,
});

export const compareQuery = (query: NonNullable<CompareRunsData['query']>) =>
  generated.compareRunsOptions({ query });
/** Each run is a group; the first one is the baseline. */
export const compareRunsQuery = (runs: readonly number[]) => compareQuery({ runs: runs.join(',') });

/** Time series of a comparison's groups. */
export const compareSeriesQuery = (query: NonNullable<CompareSeriesData['query']>) => ({
  ...generated.compareSeriesOptions({ query }),
  placeholderData: keepPreviousData,
});

export const planQuery = (body: RunRequest) => ({ ...generated.planRunOptions({ body }), ...PLAN });

/** How job text is interpreted; changes only with the text. */
export const importQuery = (body: ImportRequest) => ({
  ...generated.importJobsOptions({ body }),
  placeholderData: keepPreviousData,
  retry: false,
  staleTime: 60_000,
});

export const hostsQuery = { ...generated.listHostsOptions(), ...HOST };
export const hostQuery = (host: string) => ({
  ...generated.getHostOptions({ path: { host } }),
  ...HOST,
});
export const devicesQuery = (host: string) => ({
  ...generated.listDevicesOptions({ path: { host } }),
  ...HOST,
});
export const optionsQuery = generated.listOptionsOptions();

export const trendsQuery = {
  ...generated.listTrendsInfiniteOptions({ query: { limit: PAGE_SIZE } }),
  initialPageParam: {},
  getNextPageParam: ({ next_cursor }: TrendList) => next_cursor ?? undefined,
};
/** The series with a baseline. */
export const pinnedTrendsQuery = generated.listTrendsOptions({
  query: { pinned: true, limit: 200 },
});
export const trendQuery = (job: string, machine: string, query: GetTrendData['query']) => ({
  ...generated.getTrendOptions({ path: { job, machine }, query }),
  placeholderData: keepPreviousData,
});

/** Invalidates all trends, for example after a baseline is pinned. */
export const invalidateTrends = (client: QueryClient) =>
  invalidate(client, ['getTrend', 'listTrends']);

export const studiesQuery = {
  ...generated.listStudiesInfiniteOptions(),
  initialPageParam: {},
  getNextPageParam: ({ next_cursor }: StudyList) => (next_cursor ? Number(next_cursor) : undefined),
};
export const studyQuery = (n: number) => generated.getStudyOptions({ path: { n } });
export const experimentsQuery = generated.listExperimentsOptions();
/** Results change when a run ends: `ended` counts the runs that ended. */
export const procedureQuery = (n: number, ended: number) => {
  const { queryKey, queryFn, ...options } = generated.getProcedureOptions({ path: { n } });
  return queryOptions({
    ...options,
    queryFn,
    queryKey: [...queryKey, ended] as unknown as typeof queryKey,
    placeholderData: keepPreviousData,
  });
};
export const studyPlanQuery = (body: StudyDefinition) => ({
  ...generated.planStudyOptions({ body }),
  ...PLAN,
});

/** A study with its steps' runs, except deleted ones. */
export const studyWithRunsQuery = (n: number) =>
  queryOptions({
    queryKey: ['study with runs', n],
    // The study and the runs are cached by their own queries.
    staleTime: 0,
    queryFn: async () => {
      const study = await queryClient.fetchQuery(studyQuery(n));
      const numbers = study.steps.flatMap(({ run }) => (run ? [run.number] : []));
      const runs = await Promise.all(numbers.map((run) => queryClient.fetchQuery(runQuery(run))));
      return { study, runs };
    },
  });

/** Checks a host again, and caches the results. */
export async function refreshHost(client: QueryClient, host: string): Promise<void> {
  const options = { path: { host }, query: { refresh: true }, throwOnError: true } as const;
  const [detail, devices] = await Promise.all([getHost(options), listDevices(options)]);
  client.setQueryData(hostQuery(host).queryKey, detail.data);
  client.setQueryData(devicesQuery(host).queryKey, devices.data);
  await client.invalidateQueries({ queryKey: hostsQuery.queryKey });
}

/** Caches a run from a response. */
export function cacheRun(run: Run): Run {
  queryClient.setQueryData(runQuery(run.number).queryKey, run);
  return run;
}

/** Caches a study from a response. */
export function cacheStudy(study: Study): Study {
  queryClient.setQueryData(studyQuery(study.number).queryKey, study);
  return study;
}

/** The feed has no events for schedules, webhooks or their results. */
const POLLED = { refetchInterval: 5000, staleTime: 0 };

export const schedulesQuery = { ...generated.listSchedulesOptions(), ...POLLED };
/** A plan depends on files and on the current time. */
export const schedulePlanQuery = (body: ScheduleRequest) => ({
  ...generated.planScheduleOptions({ body }),
  placeholderData: keepPreviousData,
  retry: false,
  staleTime: 5000,
});
export const webhooksQuery = { ...generated.listWebhooksOptions(), ...POLLED };
export const settingsQuery = generated.getSettingsOptions();

const invalidate = (client: QueryClient, ids: readonly string[]) =>
  Promise.all(ids.map((_id) => client.invalidateQueries({ queryKey: [{ _id }] })));

export const invalidateSchedules = (client: QueryClient) => invalidate(client, ['listSchedules']);
export const invalidateWebhooks = (client: QueryClient) => invalidate(client, ['listWebhooks']);
/** Comparisons and trends depend on the thresholds. */
export const invalidateSettings = (client: QueryClient) =>
  invalidate(client, ['getSettings', 'compareRuns', 'getTrend', 'listTrends']);
