// Shows the progress of an active run in the tab title, and its final status until the user returns
// to the tab. If the user has granted permission, a notification is also shown when a run in a
// background tab ends.
import { useEffect } from 'react';
import type { Run } from '../../api';
import type { LiveRun } from '../../charts/use-live-run';
import { remainingMs } from '../../model/fold/remaining-time';
import { isFinal } from '../../model/fold/run-fold';
import { runTitle, STATUS } from '../../model/run/summary';

/**
 * Update interval. Hidden tabs have no animation frames, and their timers fire at most once per
 * second.
 */
const INTERVAL_MS = 1000;
/** Minimum run duration for a notification. Shorter runs end before the user switches tasks. */
const MIN_NOTIFIED_MS = 5000;

export function useTabTitle(run: Run, { fold, clock }: LiveRun) {
  const title = `#${run.number} ${runTitle(run)}`;
  const { number } = run;
  useEffect(() => {
    let wasActive = !isFinal(fold.status);
    let isUnseen = false;
    const update = () => {
      const isActive = !isFinal(fold.status);
      if (wasActive && !isActive && document.hidden) {
        isUnseen = true;
        if (fold.now_ms >= MIN_NOTIFIED_MS) notify(number, title, STATUS[fold.status].label);
      }
      wasActive = isActive;
      if (!document.hidden) isUnseen = false;
      const prefix = isActive || isUnseen ? `${progress()} · ` : '';
      document.title = `${prefix}${title} · Leadline`;
    };
    const progress = () => {
      const now_ms = clock();
      const left_ms = remainingMs(fold, now_ms);
      return left_ms === null || now_ms + left_ms === 0
        ? STATUS[fold.status].label
        : `${Math.floor((100 * now_ms) / (now_ms + left_ms))} %`;
    };
    update();
    const timer = setInterval(update, INTERVAL_MS);
    document.addEventListener('visibilitychange', update);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', update);
    };
  }, [fold, clock, title, number]);
}

/** Over plain HTTP, browsers support notifications only on localhost. */
export const canNotify = () => 'Notification' in window && window.isSecureContext;

function notify(number: number, title: string, status: string) {
  if (!canNotify() || Notification.permission !== 'granted') return;
  const notification = new Notification(`${status}: ${title}`, { tag: `leadline-run-${number}` });
  notification.onclick = () => window.focus();
}
