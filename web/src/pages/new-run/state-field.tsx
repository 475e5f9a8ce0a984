// Select field for an initial state, with a description of the selected state.
import { SegmentedControl } from '@mantine/core';
import { useId } from 'react';
import { type StateOption, UNCHANGED } from '../../model/job/form-options';
import { optionProps } from './option-field';
import type { JobForm } from './use-job-form';

interface StateFieldProps {
  form: JobForm;
  option: 'file_state' | 'cache_state';
  label: string;
  states: readonly StateOption[];
}

/** For "Unchanged", the option is removed from the job. */
export function StateField({ form, option, label, states }: StateFieldProps) {
  const id = useId();
  const { value: set, error } = optionProps(form, option);
  const value = set || UNCHANGED;
  const chosen = states.find((state) => state.value === value);
  return (
    <div className="state">
      <span id={id} className="mute small">
        {label}
      </span>
      <SegmentedControl
        size="xs"
        aria-labelledby={id}
        value={value}
        onChange={(next) =>
          next === UNCHANGED ? form.edits.unset(option) : form.edits.set(option, next)
        }
        data={states.map((state) => ({ value: state.value, label: state.label }))}
      />
      <span className="mute small">{chosen?.description ?? `Unknown state: ${value}`}</span>
      {error && <p className="error">{error}</p>}
    </div>
  );
}
