// Every other option, as the server lists them: grouped, in fio's names, with their help.
import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { OptionDoc } from '../../api';
import { optionsQuery } from '../../api/queries';
import { errorText } from '../../model/format/problem-text';
import { BASIC_OPTIONS } from '../../model/job/job-form';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { OptionField } from './option-field';
import type { JobDraft } from './use-job';

const isBasic = ({ name }: OptionDoc) => (BASIC_OPTIONS as readonly string[]).includes(name);

/** The rest, folded until it is wanted. */
export function AllOptions({ draft }: { draft: JobDraft }) {
  const { data, error, refetch } = useQuery(optionsQuery);
  const [wanted, setWanted] = useState('');
  const options = data?.filter((doc) => !isBasic(doc)) ?? [];
  const found = options.filter(({ name, help, aliases }) =>
    [name, help, ...aliases].some((word) => word.toLowerCase().includes(wanted.toLowerCase())),
  );
  const groups = [...new Set(found.map(({ group }) => group))];
  if (error) return <ProblemNotice problem={errorText(error)} onRetry={() => void refetch()} />;
  if (options.length === 0) return null;
  return (
    <Card className="more">
      <details>
        <summary>
          More: {options.length} options in fio’s words <SetCount draft={draft} of={options} />
        </summary>
        <TextInput
          aria-label="Find an option"
          placeholder="Find an option"
          value={wanted}
          onChange={({ currentTarget }) => setWanted(currentTarget.value)}
          my={8}
        />
        {groups.map((group) => (
          <Group
            key={`${group}${wanted !== ''}`}
            name={group}
            draft={draft}
            open={wanted !== ''}
            options={found.filter((doc) => doc.group === group)}
          />
        ))}
        {groups.length === 0 && (
          <p className="mute">No option is called so, and no help speaks of it.</p>
        )}
      </details>
    </Card>
  );
}

function Group({
  name,
  draft,
  options,
  open,
}: {
  name: string;
  draft: JobDraft;
  options: readonly OptionDoc[];
  open: boolean;
}) {
  return (
    <details open={open}>
      <summary>
        <b>{name}</b>{' '}
        <span className="mute small">{options.map((doc) => doc.name).join(', ')}</span>{' '}
        <SetCount draft={draft} of={options} />
      </summary>
      <div className="fields wide">
        {options.map((doc) => (
          <OptionField key={doc.name} draft={draft} doc={doc} />
        ))}
      </div>
    </details>
  );
}

function SetCount({ draft: { job }, of }: { draft: JobDraft; of: readonly OptionDoc[] }) {
  const set = of.filter(({ name, aliases }) =>
    [name, ...aliases].some((word) => job[word] !== undefined),
  ).length;
  return set > 0 ? <span className="chip">{set} set</span> : null;
}
