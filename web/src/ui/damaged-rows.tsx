// Rows of a list whose stored data cannot be read. They can only be deleted.
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { notifyError } from './notify';

interface DamagedRowsProps {
  /** Singular, such as "schedule". */
  kind: string;
  numbers: number[];
  remove: (number: number) => Promise<unknown>;
  onRemoved: () => void;
}

export function DamagedRows({ kind, numbers, remove, onRemoved }: DamagedRowsProps) {
  const removal = useMutation({ mutationFn: remove, onSuccess: onRemoved, onError: notifyError });
  return numbers.map((number) => (
    <div key={number} className="row" role="alert">
      <span className="bad-text">
        The stored data of {kind} {number} is damaged. Restore a backup, or delete it.
      </span>
      <span className="push" />
      <Button
        loading={removal.isPending}
        onClick={() => confirm(`Delete ${kind} ${number}?`) && removal.mutate(number)}
      >
        Delete
      </Button>
    </div>
  ));
}
