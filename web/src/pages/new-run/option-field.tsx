// Form fields for job options.
import { Autocomplete, TextInput } from '@mantine/core';
import type { ChangeEvent } from 'react';
import type { OptionDoc } from '../../api';
import type { JobDraft } from './use-job-text';

/** Value, handlers and error of an option's field. */
export function optionProps(draft: JobDraft, option: string) {
  const problems = draft.problems.filter(
    (one) => one.job === draft.active && one.option === option && !one.isPrompt,
  );
  return {
    value: draft.job[option] ?? '',
    error: problems.map(({ detail, remedy }) => `${detail} ${remedy}`).join(' ') || null,
    onChange: (input: string | ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
      draft.set(option, typeof input === 'string' ? input : input.currentTarget.value),
    onBlur: () => draft.unsetIfEmpty(option),
  };
}

const ORDER: ('label' | 'input' | 'error' | 'description')[] = [
  'label',
  'input',
  'error',
  'description',
];

export function OptionField({ draft, doc }: { draft: JobDraft; doc: OptionDoc }) {
  const { name, values, default: fallback, help, aliases } = doc;
  const used = [name, ...aliases].find((alias) => draft.job[alias] !== undefined) ?? name;
  const props = {
    ...optionProps(draft, used),
    label: <span className="mono">{name}</span>,
    description: help,
    inputWrapperOrder: ORDER,
    placeholder: fallback ?? 'Not set',
  };
  if (values.length === 0) return <TextInput {...props} spellCheck={false} />;
  return <Autocomplete {...props} data={[...values]} filter={({ options }) => options} />;
}
