// Phase bar with the remaining time.
import { type LiveRun, useTick } from '../../charts/use-live-run';
import { type PhasePart, phaseBar } from '../../model/fold/phase-bar';
import { remainingMs } from '../../model/fold/remaining-time';
import { duration } from '../../model/format/time';

const STATE_LABELS = {
  done: 'done',
  active: 'in progress',
  pending: 'pending',
  stopped: 'not completed',
  failed: 'failed',
} as const;
const SIGNS: Partial<Record<PhasePart['state'], string>> = {
  done: '✓ ',
  stopped: '✕ ',
  failed: '✕ ',
};

export function Phases({ live: { fold, chartGroup, clock } }: { live: LiveRun }) {
  useTick(chartGroup);
  const now_ms = clock();
  const parts = phaseBar(fold, now_ms);
  const left_ms = remainingMs(fold, now_ms);
  if (parts.length === 0) return null;
  return (
    <div className="row nowrap">
      <ol className="phases" aria-label="Phases">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
          <PhaseItem key={index} part={part} />
        ))}
      </ol>
      {left_ms !== null && (
        <span className="mute small">
          About {duration(Math.max(1, Math.ceil(left_ms / 1000)) * 1000)} left
        </span>
      )}
    </div>
  );
}

/** `fraction`: null if the phase's length is unknown. */
function PhaseItem({ part: { label, state, fraction } }: { part: PhasePart }) {
  const isActive = state === 'active';
  return (
    <li
      className={state}
      title={`${label} (${STATE_LABELS[state]})`}
      aria-current={isActive ? 'step' : undefined}
    >
      {isActive && fraction === null && <i className="unknown" />}
      {isActive && fraction !== null && <i style={{ width: `${fraction * 100}%` }} />}
      <span>
        {SIGNS[state]}
        {label}
        {state === 'stopped' && ', not completed'}
      </span>
    </li>
  );
}
