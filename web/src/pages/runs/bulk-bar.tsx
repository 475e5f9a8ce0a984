// Actions on the selected runs: compare, tag, export, delete.
import { Button, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiProblem, deleteRun, getRun, ifMatch, patchRun, type RunSummary } from '../../api';
import { RUNS_KEY } from '../../api/queries';
import { MAX_RUNS, MIN_RUNS } from '../../model/compare/run-numbers';
import { plural } from '../../model/format/numbers';
import { isActive } from '../../model/run/summary';
import { Dialog } from '../../ui/dialog';
import { LinkButton } from '../../ui/link-button';
import { errorText } from '../../ui/problem';

interface BulkBarProps {
  /** Sorted by number. */
  runs: readonly RunSummary[];
  clear: () => void;
}

export function BulkBar({ runs, clear }: BulkBarProps) {
  const [dialog, setDialog] = useState<'tag' | 'delete' | null>(null);
  const close = () => setDialog(null);
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
        data-action="Compare selected runs"
        disabled={!comparable}
      >
        Compare
      </LinkButton>
      {!comparable && (
        <span className="mute small">
          Select {MIN_RUNS} to {MAX_RUNS} runs to compare
        </span>
      )}
      <TrendButton runs={runs} />
      <Button onClick={() => setDialog('tag')}>Tag…</Button>
      <Button onClick={() => download(numbers, 'csv')}>Export CSV</Button>
      <Button onClick={() => download(numbers, 'ndjson')}>Export NDJSON</Button>
      <Button c="var(--bad-text)" onClick={() => setDialog('delete')}>
        Delete…
      </Button>
      <span className="push" />
      <Button onClick={clear}>Clear selection</Button>
      <TagDialog runs={runs} opened={dialog === 'tag'} onClose={close} />
      <DeleteDialog runs={runs} opened={dialog === 'delete'} onClose={close} onDone={clear} />
    </section>
  );
}

/** If the runs performed the same test on the same machine, opens their trend. */
function TrendButton({ runs }: { runs: readonly RunSummary[] }) {
  const [first] = runs;
  const { job_fingerprint: job, machine_fingerprint: machine } = first ?? {};
  const isSeries = runs.every(
    (run) => run.job_fingerprint === job && run.machine_fingerprint === machine,
  );
  if (!first || !job || !machine || !isSeries) return null;
  return (
    <LinkButton
      to="/trends/$job/$machine"
      params={{ job, machine }}
      search={{ run: String(first.number) }}
    >
      Trend
    </LinkButton>
  );
}

/** Downloads one file for each run. */
function download(numbers: readonly number[], format: 'csv' | 'ndjson') {
  for (const number of numbers) {
    const link = document.createElement('a');
    link.href = `/api/v1/runs/${number}/export?format=${format}`;
    link.download = `run-${number}.${format}`;
    link.click();
  }
}

/** Applies an action to each run and shows how many succeeded. */
function useBulkAction() {
  const queryClient = useQueryClient();
  return async (
    runs: readonly RunSummary[],
    verb: string,
    act: (run: RunSummary) => Promise<unknown>,
  ) => {
    const results = await Promise.allSettled(runs.map(act));
    const failures = results.filter((result) => result.status === 'rejected');
    const [first] = failures.map(({ reason }) => errorText(reason));
    const count = `${verb} ${runs.length - failures.length} of ${plural(runs.length, 'run')}.`;
    notifications.show({
      message: first ? `${count} ${first.title}. ${first.lines.join(' ')}` : count,
    });
    await queryClient.invalidateQueries({ queryKey: RUNS_KEY });
  };
}

interface DialogProps {
  runs: readonly RunSummary[];
  opened: boolean;
  onClose: () => void;
}

type ChangeTags = (tags: readonly string[]) => string[];

/** Keeps tags that others have added since the list was loaded. */
async function updateTags(run: RunSummary, change: ChangeTags): Promise<unknown> {
  const { number: n, tags, etag } = run;
  try {
    return await patchRun({ path: { n }, headers: ifMatch(etag), body: { tags: change(tags) } });
  } catch (error) {
    if (!(error instanceof ApiProblem && error.code === 'changed_meanwhile')) throw error;
    const { data } = await getRun({ path: { n }, throwOnError: true });
    return updateTags(data, change);
  }
}

function TagDialog({ runs, opened, onClose }: DialogProps) {
  const applyToAll = useBulkAction();
  const apply =
    (verb: string, change: (tags: readonly string[], tag: string) => string[]) =>
    async (form: FormData) => {
      const tag = String(form.get('tag') ?? '').trim();
      onClose();
      if (!tag) return;
      await applyToAll(runs, verb, (run) => updateTags(run, (tags) => change(tags, tag)));
    };
  const add = apply('Tagged', (tags, tag) => [...new Set([...tags, tag])]);
  const remove = apply('Untagged', (tags, tag) => tags.filter((other) => other !== tag));
  const isTagged = runs.some(({ tags }) => tags.length > 0);
  return (
    <Dialog opened={opened} onClose={onClose} title={`Tag ${plural(runs.length, 'run')}`}>
      <form action={add} className="row" style={{ alignItems: 'flex-end' }}>
        <TextInput name="tag" label="Tag" data-autofocus required style={{ flex: 1 }} />
        <Button type="submit" variant="filled">
          Add tag
        </Button>
        {isTagged && (
          <Button type="submit" formAction={remove}>
            Remove tag
          </Button>
        )}
      </form>
    </Dialog>
  );
}

function DeleteDialog({ runs, opened, onClose, onDone }: DialogProps & { onDone: () => void }) {
  const applyToAll = useBulkAction();
  const finished = runs.filter((run) => !isActive(run));
  const active = runs.length - finished.length;
  const label = `Delete ${plural(finished.length, 'run')}`;
  const remove = async () => {
    onClose();
    await applyToAll(finished, 'Deleted', ({ number: n }) => deleteRun({ path: { n } }));
    onDone();
  };
  return (
    <Dialog opened={opened} onClose={onClose} title={`${label}?`}>
      <div className="stack">
        <p>
          This permanently deletes their reports, samples and events.
          {active > 0 && ` ${plural(active, 'active run')} will not be deleted.`}
        </p>
        <div className="row">
          <Button c="var(--bad-text)" onClick={() => void remove()} data-autofocus>
            {label}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Dialog>
  );
}
