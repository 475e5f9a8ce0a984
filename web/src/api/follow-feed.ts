// The feed keeps the answers fresh that queries hold: a frame about a run or a study changes it wherever it is kept, and a
// feed that begins anew makes all of them stale. Not here: which answers there are (`queries`).
import type { InfiniteData, Query } from '@tanstack/react-query';
import { onFeed, onFeedOpen } from './feed';
import type {
  Run,
  RunList,
  RunSummary,
  RunsEvent,
  Study,
  StudySummary,
} from './generated/types.gen';
import { queryClient } from './queries';

/** Lists are asked for anew at most this often while runs come and go, in ms. */
const REFRESH_MS = 500;
const due = new Map<string, ReturnType<typeof setTimeout>>();

/** Asks anew, in a moment, for what stands under a key, or for `which` of it. */
function refresh(queryKey: readonly (string | number)[], which?: (query: Query) => boolean) {
  const name = queryKey.join();
  if (due.has(name)) return;
  const ask = () => {
    due.delete(name);
    void queryClient.invalidateQueries({ queryKey, predicate: which });
  };
  due.set(name, setTimeout(ask, REFRESH_MS));
}

/** What may have changed while nothing was heard: what the feed keeps fresh, and the hosts, of which it never tells. */
const UNHEARD: readonly unknown[] = [
  'runs',
  'run',
  'studies',
  'study',
  'series',
  'compare',
  'hosts',
];

/** Keeps the kept answers as fresh as the feed. Returns how to stop it. */
export function followFeed(): () => void {
  const stops = [onFeed(followFrame), onFeedOpen(askAnew)];
  return () => {
    for (const stop of stops) stop();
  };
}

/** The feed tells no past: whatever it did not see change is asked for, and whatever the server failed to answer before. */
function askAnew() {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey, state }) => UNHEARD.includes(queryKey[0]) || state.status === 'error',
  });
}

/** Whether a kept run waits: the queue says that places moved, and not whose. */
const isQueued = ({ state }: Query) => (state.data as Run | undefined)?.status === 'queued';

function followFrame(frame: RunsEvent) {
  if (frame.type === 'queue') return refresh(['run'], isQueued);
  if (frame.type === 'study') return followStudy(frame.study);
  if (frame.type === 'deleted') queryClient.removeQueries({ queryKey: ['run', frame.number] });
  else {
    const { run } = frame;
    // Of the verdict a summary knows only the word.
    queryClient.setQueryData<Run>(['run', run.number], (old) =>
      old ? { ...old, ...run, verdict: old.verdict } : old,
    );
    if (run.finished_at_ms) refreshMeasured(run.number);
    if (replaceInLists(run)) return;
  }
  refresh(['runs']);
}

/** What was read of a run while it went on is not all of it. */
function refreshMeasured(run: number) {
  refresh(['series', run]);
  refresh(['compare']);
}

/** Its summary at once; what its steps came to is asked for. */
function followStudy(study: StudySummary) {
  queryClient.setQueryData<Study>(['study', study.number], (old) =>
    old ? { ...old, ...study } : old,
  );
  refresh(['study', study.number]);
  refresh(['studies']);
}

/** Puts a run into every list that shows it. False when one of them does not, or its row may have to move, come or go. */
function replaceInLists(run: RunSummary): boolean {
  let stays = !run.finished_at_ms;
  queryClient.setQueriesData<InfiniteData<RunList>>({ queryKey: ['runs'] }, (data) => {
    if (!data) return data;
    const shown = data.pages
      .flatMap(({ runs }) => runs)
      .find(({ number }) => number === run.number);
    if (shown?.status !== run.status) stays = false;
    const replace = (page: RunList): RunList => ({
      ...page,
      runs: page.runs.map((old) => (old === shown ? run : old)),
    });
    return shown ? { ...data, pages: data.pages.map(replace) } : data;
  });
  return stays;
}
