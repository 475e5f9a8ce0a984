// Keeps cached queries current: applies feed frames to them and invalidates them after a
// reconnect.
import type { InfiniteData, Query } from '@tanstack/react-query';
import { type FeedMessage, onFeed, onFeedConnected } from './feed';
import type { Run, RunList, RunSummary, StudySummary } from './generated/types.gen';
import { queryClient, RUNS_KEY, runQuery, studyQuery } from './queries';

/** Invalidations of a key within this time are merged. */
const REFRESH_MS = 500;
/** Fetching a study includes all its steps, which takes CPU time on the measuring host. */
const REFRESH_MS_PER_STEP = 5;
const pending = new Map<string, ReturnType<typeof setTimeout>>();

/** A generated query key or a prefix of one. */
interface KeyPart {
  _id: string;
  path?: { n: number };
}

function refresh(key: KeyPart, predicate?: (query: Query) => boolean, delay_ms = REFRESH_MS) {
  const name = JSON.stringify(key);
  if (pending.has(name)) return;
  const invalidate = () => {
    pending.delete(name);
    void queryClient.invalidateQueries({ queryKey: [key], predicate });
  };
  pending.set(name, setTimeout(invalidate, delay_ms));
}

/**
 * Queries to invalidate after a reconnect. Hosts are included because the feed has no events for
 * them. A finished run's series never changes.
 */
const CHANGING: readonly unknown[] = [
  'listRuns',
  'getRun',
  'listStudies',
  'getStudy',
  'compareRuns',
  'getTrend',
  'listTrends',
  'listHosts',
];

const isUnfinishedSeries = ({ _id, path }: Partial<KeyPart>) =>
  _id === 'getSeries' &&
  path !== undefined &&
  !queryClient.getQueryData(runQuery(path.n).queryKey)?.finished_at_ms;

/** Subscribes to the feed. Returns a stop function. */
export function syncCache(): () => void {
  const stops = [onFeed(applyMessage), onFeedConnected(invalidateAfterReconnect)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Also retries failed queries. */
function invalidateAfterReconnect() {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [key], state }) =>
      CHANGING.includes((key as Partial<KeyPart>)._id) ||
      isUnfinishedSeries(key as Partial<KeyPart>) ||
      state.status === 'error',
  });
}

const isQueued = ({ state }: Query) => (state.data as Run | undefined)?.status === 'queued';

function applyMessage(message: FeedMessage) {
  // Queue positions changed; the message does not list the runs.
  if (message.type === 'queue') return refresh({ _id: 'getRun' }, isQueued);
  if (message.type === 'store') return;
  if (message.type === 'study') return applyStudy(message.study);
  if (message.type === 'annotations') return refresh({ _id: 'getRun', path: { n: message.run } });
  if (message.type === 'study_deleted') {
    queryClient.removeQueries({ queryKey: studyQuery(message.number).queryKey });
    return refresh({ _id: 'listStudies' });
  }
  if (message.type === 'deleted') {
    queryClient.removeQueries({ queryKey: runQuery(message.number).queryKey });
    refreshTrends();
  } else {
    const { run } = message;
    const { queryKey } = runQuery(run.number);
    // The details change with the status.
    const cached = queryClient.getQueryData(queryKey);
    if (cached?.status !== run.status) refresh({ _id: 'getRun', path: { n: run.number } });
    queryClient.setQueryData(queryKey, (old) => old && { ...old, ...run });
    if (run.finished_at_ms) {
      if (!cached?.finished_at_ms) refresh({ _id: 'getSeries', path: { n: run.number } });
      refresh({ _id: 'compareRuns' });
      refreshTrends();
    }
    if (replaceInLists(run)) return;
  }
  refresh({ _id: 'listRuns' });
}

function refreshTrends() {
  refresh({ _id: 'getTrend' });
  refresh({ _id: 'listTrends' });
}

function applyStudy(study: StudySummary) {
  const { number: n } = study;
  queryClient.setQueryData(studyQuery(n).queryKey, (old) => old && { ...old, ...study });
  const delay_ms = Math.max(REFRESH_MS, study.steps_total * REFRESH_MS_PER_STEP);
  refresh({ _id: 'getStudy', path: { n } }, undefined, delay_ms);
  refresh({ _id: 'listStudies' });
}

/**
 * Updates a run in every list. Returns false if the lists must be fetched again because the run is
 * new, finished, or has a different status.
 */
function replaceInLists(run: RunSummary): boolean {
  let complete = !run.finished_at_ms;
  queryClient.setQueriesData<InfiniteData<RunList>>({ queryKey: RUNS_KEY }, (data) => {
    if (!data) return data;
    const shown = data.pages
      .flatMap(({ runs }) => runs)
      .find(({ number }) => number === run.number);
    if (shown?.status !== run.status) complete = false;
    const replace = (page: RunList): RunList => ({
      ...page,
      runs: page.runs.map((old) => (old === shown ? run : old)),
    });
    return shown ? { ...data, pages: data.pages.map(replace) } : data;
  });
  return complete;
}
