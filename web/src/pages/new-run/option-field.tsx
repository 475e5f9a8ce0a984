// Form fields for job options.
import { Autocomplete, TextInput } from '@mantine/core';
import { type ChangeEvent, memo } from 'react';
import type { OptionDoc } from '../../api';
import type { JobEdits, JobForm } from './use-job-form';

export interface FieldState {
  value: string;
  error: string | null;
  edits: JobEdits;
}

/** The option properties that a memoized field shows. */
export const fieldState = ({ job, errors, edits }: JobForm, option: string): FieldState => ({
  value: job[option] ?? '',
  error: errors[option] ?? null,
  edits,
});

/** An option field's value, handlers and error. */
export const fieldProps = ({ value, error, edits }: FieldState, option: string) => ({
  value,
  error,
  onChange: (input: string | ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
    edits.set(option, typeof input === 'string' ? input : input.currentTarget.value),
  onBlur: () => edits.unsetIfEmpty(option),
});

export const optionProps = (form: JobForm, option: string) =>
  fieldProps(fieldState(form, option), option);

const ORDER: ('label' | 'input' | 'error' | 'description')[] = [
  'label',
  'input',
  'error',
  'description',
];

interface OptionFieldProps extends FieldState {
  doc: OptionDoc;
  /** The name or alias that the job uses. */
  option: string;
}

/** Memoized: when one of the more than 100 fields changes, most others stay the same. */
export const OptionField = memo(({ doc, option, ...state }: OptionFieldProps) => {
  const { name, values, default: fallback, help } = doc;
  const props = {
    ...fieldProps(state, option),
    label: <span className="mono">{name}</span>,
    description: help,
    inputWrapperOrder: ORDER,
    placeholder: fallback ?? 'Not set',
  };
  if (values.length === 0) return <TextInput {...props} spellCheck={false} />;
  return <Autocomplete {...props} data={[...values]} filter={({ options }) => options} />;
});
