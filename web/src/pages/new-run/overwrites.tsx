// The data that a run or study would overwrite, and fields to confirm it.
import { TextInput } from '@mantine/core';
import { memo } from 'react';
import { Card } from '../../ui/parts';
import type { Confirmations, Overwrite } from './use-confirmations';

type OverwritesProps = Pick<Confirmations, 'overwrites' | 'setTyped'>;

export const Overwrites = memo(({ overwrites, setTyped }: OverwritesProps) => {
  if (overwrites.length === 0) return null;
  return (
    <Card title="Overwrites" className="overwrites">
      {overwrites.map((overwrite) => (
        <ConfirmField
          key={overwrite.path}
          overwrite={overwrite}
          onType={(typed) => setTyped(overwrite.path, typed)}
        />
      ))}
    </Card>
  );
});

interface ConfirmFieldProps {
  overwrite: Overwrite;
  onType: (typed: string) => void;
}

function ConfirmField({ overwrite, onType }: ConfirmFieldProps) {
  const { path, kind, identity, text, contents, typed, isConfirmed } = overwrite;
  return (
    <div>
      <p>
        The {kind} <b className="mono">{path}</b>
        {identity && <span className="mute mono"> {identity}</span>} holds{' '}
        <b>{contents.join(', ')}</b>. This data will be lost.
      </p>
      <TextInput
        label={`Type ${text} to confirm`}
        value={typed}
        onChange={({ currentTarget }) => onType(currentTarget.value)}
        error={typed !== '' && !isConfirmed && !text.startsWith(typed.trim()) && `Not ${text}`}
        autoComplete="off"
        spellCheck={false}
      />
    </div>
  );
}
