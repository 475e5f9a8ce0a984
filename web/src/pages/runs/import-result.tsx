// Imports a fio result from a file or pasted text. The result becomes a run.
import { Button, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ChangeEvent, useState } from 'react';
import { importResult } from '../../api';
import { ApiProblem } from '../../api/problem';
import { cacheRun } from '../../api/queries';
import { Dialog } from '../../ui/dialog';
import { ProblemNotice } from '../../ui/problem';
import { useOpenRun } from '../../ui/run-links';

export function ImportResultButton() {
  const [opened, setOpened] = useState(false);
  const close = () => setOpened(false);
  return (
    <>
      <Button onClick={() => setOpened(true)}>Import fio result</Button>
      <Dialog opened={opened} onClose={close} title="Import a fio result" size={760}>
        <ImportForm onClose={close} />
      </Dialog>
    </>
  );
}

/** Whether the result contains groups of jobs that ran in sequence, so one must be selected. */
const requiresGroup = (error: unknown) =>
  error instanceof ApiProblem && error.problems.some(({ code }) => code === 'several_groups');

const COMMAND = 'fio --output-format=json+ --output=result.json job.fio';

function ImportForm({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [group, setGroup] = useState(1);
  const openRun = useOpenRun();
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async (selected?: number) => {
      const query = selected ? { group: selected } : {};
      // The text is sent unchanged, because fio's output may have other text around its JSON.
      const body = text as unknown as Record<string, unknown>;
      const options = { body, bodySerializer: null, query, throwOnError: true } as const;
      return cacheRun((await importResult(options)).data);
    },
    onSuccess: (run) => {
      onClose();
      void openRun(run);
    },
  });
  const change = (value: string) => {
    reset();
    setText(value);
  };
  const readFile = async ({ currentTarget: { files } }: ChangeEvent<HTMLInputElement>) => {
    const file = files?.[0];
    if (file) change(await file.text());
  };
  const needsGroup = requiresGroup(error);
  return (
    <div className="stack">
      <label className="file-field">
        File
        <input type="file" accept=".json,.txt,.log" onChange={readFile} data-autofocus />
      </label>
      <Textarea
        label="Or paste fio’s output"
        description={`For example, the output of: ${COMMAND}`}
        spellCheck={false}
        minRows={6}
        maxRows={12}
        autosize
        classNames={{ input: 'mono' }}
        value={text}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
      {needsGroup && (
        <label className="row tight">
          Group
          <input
            type="number"
            min={1}
            value={group}
            onChange={({ currentTarget }) => setGroup(currentTarget.valueAsNumber || 1)}
          />
        </label>
      )}
      <ProblemNotice error={error} />
      <p className="mute small">
        The imported run contains fio’s results, but no verdict or time series, because Leadline did
        not observe it. Importing a result again opens the existing run.
      </p>
      <div className="row">
        <Button
          variant="filled"
          disabled={text.trim() === ''}
          loading={isPending}
          onClick={() => mutate(needsGroup ? group : undefined)}
        >
          {needsGroup ? `Import group ${group}` : 'Import'}
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </div>
  );
}
