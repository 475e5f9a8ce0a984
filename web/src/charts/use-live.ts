// A run's events on their way to the screen: from the socket into the fold, and from there to whoever draws, once per
// animation frame. React learns about a tick only where it asked to (`useTick`).
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { Run } from '../api';
import { runQuery } from '../api/queries';
import { openRunStream } from '../api/run-stream';
import type { ConnectionStatus } from '../api/socket';
import { foldFinishedRun, isBucketed, isFinal, RunFold } from '../model/fold/run-fold';
import { ChartGroup } from './chart-group';

/** A run that is being watched. */
export interface Live {
  fold: RunFold;
  chartGroup: ChartGroup;
  connection: ConnectionStatus;
  /** Whether the course comes from the server's buckets instead of the fold. */
  bucketed: boolean;
  /** The run's own clock in ms since it began, between events too. */
  clock: () => number;
}

/** The phase bar moves this often even when no event comes, in ms. */
const BEAT_MS = 250;
/** The clock runs ahead of the last event by this much at most, in ms. */
const AHEAD_MS = 2000;

/** Watches a run: through the stream, or, where it is long and its report is there, from what was stored. */
export function useLive(run: Run): Live {
  const queryClient = useQueryClient();
  const chartGroup = useMemo(() => new ChartGroup(), []);
  const [bucketed] = useState(() => isBucketed(run));
  const [wasOver] = useState(() => isFinal(run.status));
  const [fold, setFold] = useState(() =>
    bucketed ? foldFinishedRun(run) : new RunFold(run.status),
  );
  const [connection, setConnection] = useState<ConnectionStatus>('connecting');
  const [gathered] = useState(() => (wasOver && !bucketed ? new RunFold() : fold));
  const current = useRef({ fold: gathered, seen: performance.now() });

  useEffect(() => {
    if (bucketed) return;
    const tracked = current.current;
    // A run that was over is shown when all of it was read: what it was in between, it is no longer.
    const show = () => {
      if (!wasOver) chartGroup.request();
      else if (isFinal(tracked.fold.status)) setFold(tracked.fold);
    };
    const stream = openRunStream(run.number, {
      nextSeq: () => tracked.fold.lastSeq + 1,
      isFinished: () => isFinal(tracked.fold.status),
      onStatus: setConnection,
      reset: () => {
        tracked.fold = new RunFold();
        if (!wasOver) setFold(tracked.fold);
      },
      apply: (event) => {
        const taken = tracked.fold.apply(event);
        tracked.seen = performance.now();
        show();
        if (event.type === 'status' && isFinal(event.status))
          void queryClient.invalidateQueries({ queryKey: runQuery(run.number).queryKey });
        return taken;
      },
    });
    const beat = setInterval(() => {
      if (!isFinal(tracked.fold.status) && performance.now() - tracked.seen >= BEAT_MS) show();
    }, BEAT_MS);
    return () => {
      stream.close();
      clearInterval(beat);
    };
  }, [bucketed, wasOver, run.number, chartGroup, queryClient]);

  const clock = useCallback(() => {
    const { fold, seen } = current.current;
    return isFinal(fold.status)
      ? fold.now_ms
      : fold.now_ms + Math.min(AHEAD_MS, performance.now() - seen);
  }, []);
  return { fold, chartGroup, connection, bucketed, clock };
}

/** Renders anew at every flush of the stage. */
export const useTick = (chartGroup: ChartGroup): number =>
  useSyncExternalStore(chartGroup.onFlush, () => chartGroup.version);

/** Renders anew only when what is read at a flush has changed; for parts that stand still while samples come in. */
export const useLiveValue = <T>(chartGroup: ChartGroup, read: () => T): T =>
  useSyncExternalStore(chartGroup.onFlush, read);
