// Name, tags, and the start. The button is never merely greyed: whatever is in the way stands beside it.
import { Button, TagsInput, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { runsQuery } from '../../api/queries';
import { startKey, startRun } from '../../api/start';
import { waitsFor } from '../../model/job-form';
import { inWords } from '../../model/told';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { usePreloadRunPage } from '../../ui/use-preload';
import type { Draft } from './use-draft';

/** The start of the run. */
export function StartRow({ draft }: { draft: Draft }) {
  const { start, pending, error } = useStart(draft);
  const blocked = draft.obstacles.length > 0;
  useHotkeys([['mod+Enter', start]], []);
  return (
    <>
      <Card>
        <div className="fields naming">
          <TextInput
            label="name of the run"
            placeholder="optional"
            maxLength={200}
            value={draft.name}
            onChange={({ currentTarget }) => draft.setName(currentTarget.value)}
          />
          <TagsInput
            label="tags"
            placeholder={draft.tags.length === 0 ? 'optional' : ''}
            value={draft.tags}
            onChange={draft.setTags}
            maxTags={20}
          />
        </div>
      </Card>
      {error && <ProblemNotice problem={inWords(error)} />}
      <div className="row">
        <Button
          variant="filled"
          h={40}
          px={28}
          fz={15}
          loading={pending}
          aria-disabled={blocked}
          aria-describedby="start-state"
          onClick={start}
          className={blocked ? 'blocked' : ''}
        >
          Start
        </Button>
        <div id="start-state" role="status">
          {blocked ? <Obstacles draft={draft} /> : <Ready draft={draft} />}
        </div>
      </div>
    </>
  );
}

function useStart(draft: Draft) {
  usePreloadRunPage();
  const navigate = useNavigate();
  const key = useRef(startKey());
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => startRun(draft.request, key.current),
    onSuccess: (run) => navigate({ to: '/runs/$n', params: { n: String(run.number) } }),
    onSettled: () => {
      key.current = startKey();
    },
  });
  const start = () => {
    if (draft.obstacles.length === 0 && !isPending) mutate();
  };
  return { start, pending: isPending, error };
}

function Obstacles({ draft: { obstacles } }: { draft: Draft }) {
  return (
    <ul className="obstacles">
      {obstacles.map(({ sentence, remedy, option, line }) => (
        <li key={`${option}${line}${sentence}`}>
          {line !== null && <span className="mute">line {line + 1}: </span>}
          {sentence} <span className="mute">{remedy}</span>
        </li>
      ))}
    </ul>
  );
}

function Ready({ draft: { plan } }: { draft: Draft }) {
  const { data } = useInfiniteQuery(runsQuery({}));
  const before = plan ? waitsFor(plan, data?.pages.flatMap((page) => page.runs) ?? []) : null;
  return (
    <span className="mute">
      or <kbd>Ctrl</kbd> <kbd>Enter</kbd>
      {before && ` · waits behind #${before.number} on ${before.device}`}
    </span>
  );
}
