// A schedule's upcoming due times, in its time zone.
import type { DueTime } from '../../api';

export const DueTimes = ({ next }: { next: readonly DueTime[] }) => (
  <ol className="next-starts mono" aria-label="Next due times">
    {next.map(({ at_ms, local, is_quiet }) => (
      <li key={at_ms} className={is_quiet ? 'mute' : ''}>
        {local}
        {is_quiet && ' (quiet hours, skipped)'}
      </li>
    ))}
  </ol>
);
