// All options that do not have their own form field, grouped and with help.
import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import type { OptionDoc } from '../../api';
import { optionsQuery } from '../../api/queries';
import { BASIC_OPTIONS } from '../../model/job/form-options';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { fieldState, OptionField } from './option-field';
import type { JobForm } from './use-job-form';

const isBasic = ({ name }: OptionDoc) => (BASIC_OPTIONS as readonly string[]).includes(name);

export const AllOptions = memo(({ form }: { form: JobForm }) => {
  const { data, error, refetch } = useQuery(optionsQuery);
  const [search, setSearch] = useState('');
  const options = data?.filter((doc) => !isBasic(doc)) ?? [];
  const matches = options.filter(({ name, help, aliases }) =>
    [name, help, ...aliases].some((text) => text.toLowerCase().includes(search.toLowerCase())),
  );
  const groups = [...new Set(matches.map(({ group }) => group))];
  const isSearching = search !== '';
  if (error) return <ProblemNotice error={error} retry={refetch} />;
  if (options.length === 0) return null;
  return (
    <Card className="all-options">
      <details>
        <summary>
          All options ({options.length}) <SetCount form={form} options={options} />
        </summary>
        <TextInput
          aria-label="Search options"
          placeholder="Search options"
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          my={8}
        />
        {groups.map((group) => (
          <OptionGroup
            key={`${group}${isSearching}`}
            name={group}
            form={form}
            open={isSearching}
            options={matches.filter((doc) => doc.group === group)}
          />
        ))}
        {groups.length === 0 && <p className="mute">No matching options</p>}
      </details>
    </Card>
  );
});

interface OptionsProps {
  form: JobForm;
  options: readonly OptionDoc[];
}

function OptionGroup({ name, open, ...of }: { name: string; open: boolean } & OptionsProps) {
  return (
    <details open={open}>
      <summary>
        <b>{name}</b>{' '}
        <span className="mute small">{of.options.map((doc) => doc.name).join(', ')}</span>{' '}
        <SetCount {...of} />
      </summary>
      <div className="fields wide">
        {of.options.map((doc) => (
          <GroupField key={doc.name} form={of.form} doc={doc} />
        ))}
      </div>
    </details>
  );
}

function SetCount({ form: { job }, options }: OptionsProps) {
  const isSet = ({ name, aliases }: OptionDoc) =>
    [name, ...aliases].some((alias) => job[alias] !== undefined);
  const count = options.filter(isSet).length;
  return count > 0 ? <span className="chip">{count} set</span> : null;
}

function GroupField({ form, doc }: { form: JobForm; doc: OptionDoc }) {
  const { name, aliases } = doc;
  const used = [name, ...aliases].find((alias) => form.job[alias] !== undefined) ?? name;
  return <OptionField doc={doc} option={used} {...fieldState(form, used)} />;
}
