// Folds a run's events outside React and triggers redraws. Components subscribe with `useTick`
// or `useLiveValue`.
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { Run } from '../api';
import { runQuery } from '../api/queries';
import { openRunStream } from '../api/run-stream';
import type { ConnectionStatus } from '../api/socket';
import { foldFinishedRun, isBucketed, isFinal, RunFold } from '../model/fold/run-fold';
import { useIsSaved } from '../ui/saved';
import { ChartGroup } from './chart-group';

export interface LiveRun {
  fold: RunFold;
  chartGroup: ChartGroup;
  connection: ConnectionStatus;
  /** True if the time series comes from the server, in buckets, instead of from the fold. */
  bucketed: boolean;
  /** Milliseconds since the start of the run. The clock continues between events. */
  clock: () => number;
}

/** Redraw interval of the phase bar while no events arrive. */
const TICK_MS = 250;
/** The first samples are shown without delay. */
const FIRST_SAMPLES = 5;
/** Maximum time that the clock keeps running without an event. */
const MAX_AHEAD_MS = 2000;

/**
 * Streams a run, or uses the stored report for a long finished run or a saved page. The server does
 * not return a damaged run's events.
 */
export function useLiveRun(run: Run): LiveRun {
  const queryClient = useQueryClient();
  const chartGroup = useMemo(() => new ChartGroup(), []);
  const isSaved = useIsSaved();
  const [bucketed] = useState(() => isSaved || run.damaged || isBucketed(run));
  const [wasFinal] = useState(() => isFinal(run.status));
  const [fold, setFold] = useState(() =>
    bucketed ? foldFinishedRun(run) : new RunFold(run.status),
  );
  const [connection, setConnection] = useState<ConnectionStatus>('connecting');
  const [streamed] = useState(() => (wasFinal && !bucketed ? new RunFold() : fold));
  const current = useRef({ fold: streamed, applied_at: performance.now() });

  useEffect(() => {
    if (bucketed) return;
    const tracked = current.current;
    // Show a finished run only after its last event, skipping intermediate states.
    const show = (isUrgent: boolean) => {
      if (!wasFinal) chartGroup.request(isUrgent);
      else if (isFinal(tracked.fold.status)) setFold(tracked.fold);
    };
    const stream = openRunStream(run.number, {
      nextSeq: () => tracked.fold.lastSeq + 1,
      isFinished: () => isFinal(tracked.fold.status),
      onStatus: setConnection,
      reset: () => {
        tracked.fold = new RunFold();
        if (!wasFinal) setFold(tracked.fold);
      },
      apply: (event) => {
        const applied = tracked.fold.apply(event);
        tracked.applied_at = performance.now();
        show(event.type !== 'sample' || tracked.fold.series.points.length <= FIRST_SAMPLES);
        if (!wasFinal && event.type === 'status' && isFinal(event.status))
          void queryClient.invalidateQueries({ queryKey: runQuery(run.number).queryKey });
        return applied;
      },
    });
    const timer = setInterval(() => {
      if (!isFinal(tracked.fold.status) && performance.now() - tracked.applied_at >= TICK_MS)
        show(false);
    }, TICK_MS);
    return () => {
      stream.close();
      clearInterval(timer);
    };
  }, [bucketed, wasFinal, run.number, chartGroup, queryClient]);

  const clock = useCallback(() => {
    const { fold, applied_at } = current.current;
    return isFinal(fold.status)
      ? fold.now_ms
      : fold.now_ms + Math.min(MAX_AHEAD_MS, performance.now() - applied_at);
  }, []);
  return { fold, chartGroup, connection, bucketed, clock };
}

/** Rerenders at every flush. */
export const useTick = (chartGroup: ChartGroup): number =>
  useSyncExternalStore(chartGroup.onFlush, () => chartGroup.version);

/** Rerenders when the value returned by `read` changes at a flush. */
export const useLiveValue = <T>(chartGroup: ChartGroup, read: () => T): T =>
  useSyncExternalStore(chartGroup.onFlush, read);
