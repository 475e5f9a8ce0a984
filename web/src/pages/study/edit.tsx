// Renames and deletes a study.
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { deleteStudy, patchStudy, type Study } from '../../api';
import { cacheStudy } from '../../api/queries';
import { plural } from '../../model/format/numbers';
import { Dialog } from '../../ui/dialog';
import { notifyError } from '../../ui/notify';
import { TitleField } from '../../ui/title-field';

/** Limit in characters, as on the server. */
const MAX_NAME = 100;

export function NameField({ study: { number: n, name } }: { study: Study }) {
  const { mutate, isError } = useMutation({
    mutationFn: (name: string) => patchStudy({ path: { n }, body: { name }, throwOnError: true }),
    onSuccess: ({ data }) => cacheStudy(data),
    onError: notifyError,
  });
  // A study's name must not be empty.
  const save = (changed: string) => changed && changed !== name && mutate(changed);
  return (
    <TitleField
      label="Study name"
      value={name}
      maxLength={MAX_NAME}
      unsaved={isError}
      save={save}
    />
  );
}

/** If the study is damaged, its runs are unknown. */
type DeletableStudy = Pick<Study, 'number'> & Partial<Pick<Study, 'runs'>>;

export function DeleteButton({ study: { number: n, runs } }: { study: DeletableStudy }) {
  const [isConfirming, setIsConfirming] = useState(false);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { mutate, isPending } = useMutation({
    mutationFn: () => deleteStudy({ path: { n }, throwOnError: true }),
    onSuccess: async () => {
      await navigate({ to: '/studies' });
      await queryClient.invalidateQueries({ queryKey: [{ _id: 'listStudies' }] });
    },
    onError: notifyError,
  });
  const close = () => setIsConfirming(false);
  const label = `Delete study #${n}`;
  return (
    <>
      <Button c="var(--bad-text)" onClick={() => setIsConfirming(true)}>
        Delete…
      </Button>
      <Dialog opened={isConfirming} onClose={close} title={`${label}?`}>
        <div className="stack">
          <p>
            This permanently deletes its {runs ? plural(runs.length, 'run') : 'runs'}, with their
            reports, samples and events.
          </p>
          <div className="row">
            <Button c="var(--bad-text)" loading={isPending} onClick={() => mutate()} data-autofocus>
              {label}
            </Button>
            <Button onClick={close}>Cancel</Button>
          </div>
        </div>
      </Dialog>
    </>
  );
}
