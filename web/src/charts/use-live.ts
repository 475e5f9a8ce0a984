// A run's events on their way to the screen: from the socket into the fold, and from there to whoever draws, once per
// animation frame. React learns about a tick only where it asked to (`useTick`).
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { Run } from '../api';
import { openRunStream } from '../api/run-stream';
import type { Link } from '../api/socket';
import { comesInBuckets, foldOfRun, isFinal, RunFold } from '../model/fold';
import { Stage } from './stage';

/** A run that is being watched. */
export interface Live {
  fold: RunFold;
  stage: Stage;
  link: Link;
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
  const stage = useMemo(() => new Stage(), []);
  const [bucketed] = useState(() => comesInBuckets(run));
  const [wasOver] = useState(() => isFinal(run.status));
  const [fold, setFold] = useState(() => (bucketed ? foldOfRun(run) : new RunFold(run.status)));
  const [link, setLink] = useState<Link>('connecting');
  const [gathered] = useState(() => (wasOver && !bucketed ? new RunFold() : fold));
  const current = useRef({ fold: gathered, seen: performance.now() });

  useEffect(() => {
    if (bucketed) return;
    const tracked = current.current;
    // A run that was over is shown when all of it was read: what it was in between, it is no longer.
    const show = () => {
      if (!wasOver) stage.request();
      else if (isFinal(tracked.fold.status)) setFold(tracked.fold);
    };
    const stream = openRunStream(run.number, {
      next: () => tracked.fold.lastSeq + 1,
      isOver: () => isFinal(tracked.fold.status),
      onLink: setLink,
      reset: () => {
        tracked.fold = new RunFold();
        if (!wasOver) setFold(tracked.fold);
      },
      take: (event) => {
        const taken = tracked.fold.apply(event);
        tracked.seen = performance.now();
        show();
        if (event.type === 'status' && isFinal(event.status))
          void queryClient.invalidateQueries({ queryKey: ['run', run.number] });
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
  }, [bucketed, wasOver, run.number, stage, queryClient]);

  const clock = useCallback(() => {
    const { fold, seen } = current.current;
    return isFinal(fold.status) ? fold.now_ms : fold.now_ms + Math.min(AHEAD_MS, performance.now() - seen);
  }, []);
  return { fold, stage, link, bucketed, clock };
}

/** Renders anew at every flush of the stage. */
export const useTick = (stage: Stage): number => useSyncExternalStore(stage.onFlush, () => stage.version);

/** Renders anew only when what is read at a flush has changed; for parts that stand still while samples come in. */
export const useFromStage = <T>(stage: Stage, read: () => T): T => useSyncExternalStore(stage.onFlush, read);
