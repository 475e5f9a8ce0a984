// What is kept of the server's answers, and under which key. Samples never come through here. Not here: what keeps the
// answers fresh (`follow-feed`).
import {
  infiniteQueryOptions,
  keepPreviousData,
  QueryClient,
  queryOptions,
} from '@tanstack/react-query';
import type { ListRunsData, Run, RunRequest, Study, StudyDocument } from './generated/types.gen';
import {
  ApiProblem,
  compareRuns,
  getHost,
  getRun,
  getSeries,
  getStudy,
  listDevices,
  listExperiments,
  listHosts,
  listOptions,
  listRuns,
  listStudies,
  planRun,
  planStudy,
} from './index';

/** Which runs a list shows. */
export type RunFilter = Omit<NonNullable<ListRunsData['query']>, 'cursor' | 'limit'>;

/** Rows a page of the list: some three screens. */
const PAGE = 100;
/** Failed calls are tried again while the server does not answer, and never when it did. */
const retry = (failures: number, error: Error) =>
  failures < 3 && !(error instanceof ApiProblem && error.status !== 0);

/** The one cache. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry, refetchOnWindowFocus: false, staleTime: 5000 } },
});

export const runsQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ['runs', filter],
    queryFn: async ({ pageParam, signal }) =>
      (
        await listRuns({
          query: { ...filter, limit: PAGE, cursor: pageParam },
          signal,
          throwOnError: true,
        })
      ).data,
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });

export const runQuery = (n: number) =>
  queryOptions({
    queryKey: ['run', n],
    queryFn: async ({ signal }) => (await getRun({ path: { n }, signal, throwOnError: true })).data,
  });

/** Keeps a run that an answer brought. */
export function cacheRun(run: Run): Run {
  queryClient.setQueryData(['run', run.number], run);
  return run;
}

/** A stretch of a finished run in at most `points` buckets; times in ms since the measured window began. */
export const seriesQuery = (
  n: number,
  range: { from_ms?: number; to_ms?: number },
  points: number,
) =>
  queryOptions({
    queryKey: ['series', n, range, points],
    queryFn: async ({ signal }) =>
      (await getSeries({ path: { n }, query: { ...range, points }, signal, throwOnError: true }))
        .data,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });

export const compareQuery = (runs: readonly number[], baseline: number | undefined) =>
  queryOptions({
    queryKey: ['compare', runs, baseline],
    queryFn: async ({ signal }) =>
      (await compareRuns({ query: { runs: runs.join(','), baseline }, signal, throwOnError: true }))
        .data,
  });

export const planQuery = (request: RunRequest) =>
  queryOptions({
    queryKey: ['plan', request],
    queryFn: async ({ signal }) =>
      (await planRun({ body: request, signal, throwOnError: true })).data,
    placeholderData: keepPreviousData,
    retry: false,
  });

export const hostsQuery = queryOptions({
  queryKey: ['hosts'],
  queryFn: async ({ signal }) => (await listHosts({ signal, throwOnError: true })).data,
});
export const hostQuery = (host: string) =>
  queryOptions({
    queryKey: ['host', host],
    queryFn: async ({ signal }) =>
      (await getHost({ path: { host }, signal, throwOnError: true })).data,
  });
export const devicesQuery = (host: string) =>
  queryOptions({
    queryKey: ['devices', host],
    queryFn: async ({ signal }) =>
      (await listDevices({ path: { host }, signal, throwOnError: true })).data,
  });
export const optionsQuery = queryOptions({
  queryKey: ['options'],
  queryFn: async ({ signal }) => (await listOptions({ signal, throwOnError: true })).data,
  staleTime: Number.POSITIVE_INFINITY,
});

export const studiesQuery = infiniteQueryOptions({
  queryKey: ['studies'],
  queryFn: async ({ pageParam, signal }) =>
    (await listStudies({ query: { cursor: pageParam }, signal, throwOnError: true })).data,
  initialPageParam: undefined as number | undefined,
  getNextPageParam: (page) => (page.next_cursor ? Number(page.next_cursor) : undefined),
});
export const studyQuery = (n: number) =>
  queryOptions({
    queryKey: ['study', n],
    queryFn: async ({ signal }) =>
      (await getStudy({ path: { n }, signal, throwOnError: true })).data,
  });
export const experimentsQuery = queryOptions({
  queryKey: ['experiments'],
  queryFn: async ({ signal }) => (await listExperiments({ signal, throwOnError: true })).data,
  staleTime: Number.POSITIVE_INFINITY,
});
export const studyPlanQuery = (document: StudyDocument) =>
  queryOptions({
    queryKey: ['study plan', document],
    queryFn: async ({ signal }) =>
      (await planStudy({ body: document, signal, throwOnError: true })).data,
    placeholderData: keepPreviousData,
    retry: false,
  });

/** A study with the runs of its steps, less those that were deleted. */
export const studyWithRunsQuery = (n: number) =>
  queryOptions({
    queryKey: ['study with runs', n],
    queryFn: async () => {
      const study = await queryClient.fetchQuery(studyQuery(n));
      const numbers = study.steps.flatMap(({ run }) => (run ? [run.number] : []));
      return {
        study,
        runs: await Promise.all(numbers.map((number) => queryClient.fetchQuery(runQuery(number)))),
      };
    },
  });

/** Keeps a study that an answer brought. */
export function cacheStudy(study: Study): Study {
  queryClient.setQueryData(['study', study.number], study);
  return study;
}
