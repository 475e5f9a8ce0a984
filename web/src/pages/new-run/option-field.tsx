// One option as a field: its fio name, its default as a placeholder, what stands in its way below it.
import { Autocomplete, TextInput } from '@mantine/core';
import type { OptionDoc } from '../../api';
import { OPTION_VALUES } from '../../model/job/job-form';
import type { JobDraft } from './use-job';

/** What is wrong with an option of the job that the form shows; null when nothing is. */
export function errorOf({ obstacles, active }: JobDraft, option: string): string | null {
  const found = obstacles.filter(
    (obstacle) => obstacle.job === active && obstacle.option === option,
  );
  return found.map(({ detail, remedy }) => `${detail} ${remedy}`).join(' ') || null;
}

/** The field of one option. */
export function OptionField({
  draft,
  doc: { name, kind, default: fallback, help, aliases },
}: {
  draft: JobDraft;
  doc: OptionDoc;
}) {
  const said = [name, ...aliases].find((word) => draft.job[word] !== undefined) ?? name;
  const words = OPTION_VALUES[kind];
  const shared = {
    label: <span className="mono">{name}</span>,
    description: help,
    inputWrapperOrder: ['label', 'input', 'error', 'description'] as (
      | 'label'
      | 'input'
      | 'error'
      | 'description'
    )[],
    placeholder: fallback ?? `${kind}, not set`,
    value: draft.job[said] ?? '',
    error: errorOf(draft, said),
    onBlur: () => draft.unsetIfEmpty(said),
  };
  if (words)
    return (
      <Autocomplete
        {...shared}
        data={[...words]}
        filter={({ options }) => options}
        onChange={(value) => draft.set(said, value)}
      />
    );
  return (
    <TextInput
      {...shared}
      spellCheck={false}
      onChange={({ currentTarget }) => draft.set(said, currentTarget.value)}
    />
  );
}
