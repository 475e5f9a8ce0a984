// A state to begin with, as a plain choice: what it is called, and below it what the chosen one means.
import { SegmentedControl } from '@mantine/core';
import { useId } from 'react';
import { type StateChoice, UNCHANGED } from '../../model/job/job-form';
import { errorOf } from './option-field';
import type { JobDraft } from './use-job';

interface StateFieldProps {
  draft: JobDraft;
  option: 'file_state' | 'cache_state';
  label: string;
  decisions: readonly StateChoice[];
}

/** The choice; "as it is" is what a job says by saying nothing. */
export function StateField({ draft, option, label, decisions }: StateFieldProps) {
  const id = useId();
  const value = draft.job[option] ?? UNCHANGED;
  const chosen = decisions.find((choice) => choice.value === value);
  const fault = errorOf(draft, option);
  return (
    <div className="state">
      <span id={id} className="mute small">
        {label}
      </span>
      <SegmentedControl
        size="xs"
        aria-labelledby={id}
        value={value}
        onChange={(next) => (next === UNCHANGED ? draft.unset(option) : draft.set(option, next))}
        data={decisions.map((choice) => ({ value: choice.value, label: choice.label }))}
      />
      <span className="mute small">
        {chosen?.description ?? `${value} is no state that is known here.`}
      </span>
      {fault && <p style={{ color: 'var(--bad-text)' }}>{fault}</p>}
    </div>
  );
}
