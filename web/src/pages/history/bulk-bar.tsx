// What can be done with the selected runs: compare two to eight, tag, export, delete.
import { Button, Modal, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deleteRun, patchRun, type RunSummary } from '../../api';
import { MAX_RUNS, MIN_RUNS } from '../../model/compare/metrics';
import { errorText } from '../../model/format/problem-text';
import { isActive } from '../../model/run/summary';
import { LinkButton } from '../../ui/link-button';

interface BulkProps {
  /** The selected runs, in the order of their numbers. */
  runs: readonly RunSummary[];
  clear: () => void;
}

/** The bar above the table. */
export function BulkBar({ runs, clear }: BulkProps) {
  const [asking, setAsking] = useState<'tag' | 'delete' | null>(null);
  const numbers = runs.map(({ number }) => number);
  const comparable = numbers.length >= MIN_RUNS && numbers.length <= MAX_RUNS;
  return (
    <section className="card slim row" aria-label="Selected runs">
      <b>{numbers.length} selected</b>
      <LinkButton
        to="/compare"
        search={{ runs: numbers.join(','), baseline: String(numbers[0]) }}
        variant="filled"
        data-key="c"
        data-does="compare the selected runs"
        disabled={!comparable}
      >
        Compare
      </LinkButton>
      {!comparable && (
        <span className="mute small">
          compare takes {MIN_RUNS} to {MAX_RUNS} runs
        </span>
      )}
      <Button onClick={() => setAsking('tag')}>Tag…</Button>
      <Button onClick={() => download(numbers, 'csv')}>Export CSV</Button>
      <Button onClick={() => download(numbers, 'ndjson')}>Export NDJSON</Button>
      <Button c="var(--bad-text)" onClick={() => setAsking('delete')}>
        Delete…
      </Button>
      <span className="push" />
      <Button onClick={clear}>Clear selection</Button>
      <TagDialog runs={runs} opened={asking === 'tag'} onClose={() => setAsking(null)} />
      <DeleteDialog
        runs={runs}
        opened={asking === 'delete'}
        onClose={() => setAsking(null)}
        onDone={clear}
      />
    </section>
  );
}

/** Asks the browser for one file a run. */
function download(numbers: readonly number[], format: 'csv' | 'ndjson') {
  for (const number of numbers) {
    const link = document.createElement('a');
    link.href = `/api/v1/runs/${number}/export?format=${format}`;
    link.download = `run-${number}.${format}`;
    link.click();
  }
}

/** Does something to each run and says how many it was done to. */
function useBulkAction() {
  const queryClient = useQueryClient();
  return async (
    runs: readonly RunSummary[],
    did: string,
    act: (run: RunSummary) => Promise<unknown>,
  ) => {
    const results = await Promise.allSettled(runs.map(act));
    const failed = results.find((result) => result.status === 'rejected');
    const done = results.filter((result) => result.status === 'fulfilled').length;
    notifications.show({
      message: `${did} ${done} of ${runs.length} runs.${failed ? ` ${errorText(failed.reason).title}. ${errorText(failed.reason).detail}` : ''}`,
    });
    await queryClient.invalidateQueries({ queryKey: ['runs'] });
  };
}

interface DialogProps {
  runs: readonly RunSummary[];
  opened: boolean;
  onClose: () => void;
}

function TagDialog({ runs, opened, onClose }: DialogProps) {
  const each = useBulkAction();
  const tag = async (form: FormData) => {
    const word = String(form.get('tag') ?? '').trim();
    onClose();
    if (word)
      await each(runs, 'Tagged', (run) =>
        patchRun({
          path: { n: run.number },
          body: { tags: [...new Set([...run.tags, word])] },
          throwOnError: true,
        }),
      );
  };
  return (
    <Modal opened={opened} onClose={onClose} title={`Tag ${runs.length} runs`}>
      <form action={tag} className="row" style={{ alignItems: 'flex-end' }}>
        <TextInput name="tag" label="Tag" data-autofocus required style={{ flex: 1 }} />
        <Button type="submit" variant="filled">
          Add tag
        </Button>
      </form>
    </Modal>
  );
}

function DeleteDialog({ runs, opened, onClose, onDone }: DialogProps & { onDone: () => void }) {
  const each = useBulkAction();
  const over = runs.filter((run) => !isActive(run));
  const remove = async () => {
    onClose();
    await each(over, 'Deleted', (run) =>
      deleteRun({ path: { n: run.number }, throwOnError: true }),
    );
    onDone();
  };
  return (
    <Modal opened={opened} onClose={onClose} title={`Delete ${over.length} runs?`}>
      <div className="stack">
        <p>
          Their reports, samples and events are gone for good.
          {over.length < runs.length &&
            ` ${runs.length - over.length} of them are not over yet and stay.`}
        </p>
        <div className="row">
          <Button c="var(--bad-text)" onClick={() => void remove()} data-autofocus>
            Delete {over.length} runs
          </Button>
          <Button onClick={onClose}>Keep them</Button>
        </div>
      </div>
    </Modal>
  );
}
