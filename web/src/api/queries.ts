// Cached queries: the generated options plus the caching rules of this application. Updates from
// the feed are in `cache-sync`. Samples never go through this cache.
import { keepPreviousData, QueryClient, queryOptions } from '@tanstack/react-query';
import * as generated from './generated/@tanstack/react-query.gen';
import type {
  ListRunsData,
  Run,
  RunList,
  RunRequest,
  Study,
  StudyDefinition,
  StudyList,
} from './generated/types.gen';
// Import from the index, because it configures the client and its error interceptor.
import { ApiProblem } from './index';

export type RunFilter = Omit<NonNullable<ListRunsData['query']>, 'cursor' | 'limit'>;

/** Rows per page of a list, about three screens. */
const PAGE_SIZE = 100;

/** Retries only calls that got no response. */
const retry = (failures: number, error: Error) =>
  failures < 3 && !(error instanceof ApiProblem && error.status !== 0);

export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry, refetchOnWindowFocus: false, staleTime: 5000 } },
});

const FIXED = { staleTime: Number.POSITIVE_INFINITY };
const PLAN = { placeholderData: keepPreviousData, retry: false };

/** Key prefix of all run lists, whatever their filter. */
export const RUNS_KEY = [{ _id: 'listRuns' }] as const;

export const runsQuery = (filter: RunFilter) => ({
  ...generated.listRunsInfiniteOptions({ query: { ...filter, limit: PAGE_SIZE } }),
  initialPageParam: {},
  getNextPageParam: (page: RunList) => page.next_cursor ?? undefined,
  placeholderData: keepPreviousData,
});

export const runQuery = (n: number) => generated.getRunOptions({ path: { n } });

/** Buckets of a finished run; times in ms since the start of the measurement. */
export const seriesQuery = (
  n: number,
  range: { from_ms?: number; to_ms?: number },
  points: number,
) => ({
  ...generated.getSeriesOptions({ path: { n }, query: { ...range, points } }),
  ...FIXED,
  placeholderData: keepPreviousData,
});

export const compareQuery = (runs: readonly number[], baseline: number | undefined) =>
  generated.compareRunsOptions({ query: { runs: runs.join(','), baseline } });

export const planQuery = (body: RunRequest) => ({ ...generated.planRunOptions({ body }), ...PLAN });

export const hostsQuery = generated.listHostsOptions();
export const hostQuery = (host: string) => generated.getHostOptions({ path: { host } });
export const devicesQuery = (host: string) => generated.listDevicesOptions({ path: { host } });
export const optionsQuery = { ...generated.listOptionsOptions(), ...FIXED };

export const studiesQuery = {
  ...generated.listStudiesInfiniteOptions(),
  initialPageParam: {},
  getNextPageParam: ({ next_cursor }: StudyList) => (next_cursor ? Number(next_cursor) : undefined),
};
export const studyQuery = (n: number) => generated.getStudyOptions({ path: { n } });
export const experimentsQuery = { ...generated.listExperimentsOptions(), ...FIXED };
export const studyPlanQuery = (body: StudyDefinition) => ({
  ...generated.planStudyOptions({ body }),
  ...PLAN,
});

/** A study with the runs of its steps, except deleted ones. */
export const studyWithRunsQuery = (n: number) =>
  queryOptions({
    queryKey: ['study with runs', n],
    queryFn: async () => {
      const study = await queryClient.fetchQuery(studyQuery(n));
      const numbers = study.steps.flatMap(({ run }) => (run ? [run.number] : []));
      const runs = await Promise.all(numbers.map((run) => queryClient.fetchQuery(runQuery(run))));
      return { study, runs };
    },
  });

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
