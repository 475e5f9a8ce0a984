// Form for the groups in the URL: lists of runs, study steps, or history filters.
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { MIN_RUNS } from '../../model/compare/run-numbers';
import {
  type CompareSearch,
  GROUP_KEYS,
  groupTexts,
  withGroups,
} from '../../model/compare/selection';
import { Card } from '../../ui/parts';

interface GroupFormProps {
  search: CompareSearch;
  onCompare: (search: CompareSearch) => void;
}

export function GroupForm({ search, onCompare }: GroupFormProps) {
  const [texts, setTexts] = useState(() => padded(groupTexts(search)));
  const change = (index: number, text: string) => setTexts(texts.with(index, text));
  const filled = texts.filter((text) => text.trim() !== '');
  return (
    <Card title="Groups of repeated runs">
      <form className="row group-form" action={() => onCompare(withGroups(search, texts))}>
        {texts.map((text, index) => (
          <TextInput
            // biome-ignore lint/suspicious/noArrayIndexKey: groups are identified by their letter
            key={index}
            label={`Group ${GROUP_KEYS[index]}`}
            placeholder={index === 0 ? 'tag:before' : 'tag:after'}
            // The browser explains what is missing.
            required={index < MIN_RUNS && filled.length < MIN_RUNS}
            withAsterisk={false}
            value={text}
            onChange={({ currentTarget }) => change(index, currentTarget.value)}
          />
        ))}
        {texts.length < GROUP_KEYS.length && (
          <Button onClick={() => setTexts([...texts, ''])}>Add group</Button>
        )}
        <Button type="submit">Compare groups</Button>
      </form>
      <p className="mute small">
        A group is a list of runs (<code>12,13</code>), the repeats of a step (
        <code>study:12/step:1</code>), or a history filter (<code>tag:before rw:randread</code>).
      </p>
    </Card>
  );
}

const padded = (texts: string[]) => [
  ...texts,
  ...Array<string>(Math.max(0, MIN_RUNS - texts.length)).fill(''),
];
