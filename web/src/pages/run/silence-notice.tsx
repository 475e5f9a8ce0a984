// Notice that a live run's I/Os are not completing.
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { silenceMs } from '../../model/fold/missing-time';
import { isFinal } from '../../model/fold/run-fold';
import { duration } from '../../model/format/time';

/** The live region must exist before its text, so that screen readers announce the text. */
export function SilenceNotice({ live: { fold, chartGroup } }: { live: LiveRun }) {
  const isLive = useLiveValue(chartGroup, () => !isFinal(fold.status));
  const silent_ms = useLiveValue(chartGroup, () => silenceMs(fold));
  if (!isLive) return null;
  return (
    <div role="status" className="silence">
      {silent_ms !== null && (
        <p>
          <span aria-hidden className="silence-sign">
            ⚠
          </span>{' '}
          {/* Only the start is announced, not every update of the duration. */}
          <span className="hidden">No I/O has completed for several seconds</span>
          <span aria-hidden>No I/O has completed for {duration(silent_ms)}</span>
        </p>
      )}
    </div>
  );
}
