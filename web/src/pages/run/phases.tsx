// The phase bar, and how long it will still take.

import { type Live, useTick } from '../../charts/use-live';
import { type PhasePart, phaseBar, remainingMs } from '../../model/fold/phase-bar';
import { duration } from '../../model/format/numbers';

const SAID = { done: 'done', now: 'now', next: 'to come' } as const;

/** What was done, is done and will be done. */
export function Phases({ live: { fold, chartGroup, clock } }: { live: Live }) {
  useTick(chartGroup);
  const now_ms = clock();
  const parts = phaseBar(fold, now_ms);
  const left = remainingMs(fold, now_ms);
  if (parts.length === 0) return null;
  return (
    <div className="row" style={{ flexWrap: 'nowrap' }}>
      <ol className="phases" aria-label="Phases" style={{ flex: 1, minWidth: 0 }}>
        {parts.map((part, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: phases are in the order in which they come
          <PhaseItem key={i} part={part} />
        ))}
      </ol>
      {left !== null && (
        <span className="mute small">
          about {duration(Math.max(1, Math.ceil(left / 1000)) * 1000)} left
        </span>
      )}
    </div>
  );
}

function PhaseItem({ part: { label, state, fraction } }: { part: PhasePart }) {
  return (
    <li
      className={state}
      title={`${label} (${SAID[state]})`}
      aria-current={state === 'now' ? 'step' : undefined}
    >
      {state === 'now' &&
        (fraction === null ? (
          <i className="unknown" />
        ) : (
          <i style={{ width: `${fraction * 100}%` }} />
        ))}
      <span>
        {state === 'done' && '✓ '}
        {label}
      </span>
    </li>
  );
}
