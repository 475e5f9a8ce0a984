// Name, tags, and the start, of a run or of a study. The button is never merely greyed: whatever is in the way stands
// beside it.
import { Button, TagsInput, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { runsQuery } from '../../api/queries';
import { IdempotentRequest, startRun } from '../../api/start';
import { errorText } from '../../model/format/problem-text';
import { blockingRun } from '../../model/job/job-form';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { usePreloadRunPage } from '../../ui/use-preload';
import { ProblemList } from './problem-list';
import type { RunDraft } from './use-draft';

/** The start of the run. */
export function StartRun({ draft }: { draft: RunDraft }) {
  usePreloadRunPage();
  const navigate = useNavigate();
  const { start, pending, error } = useStart(
    draft.obstacles.length === 0,
    (wish) => startRun(draft.request, wish),
    (run) => navigate({ to: '/runs/$n', params: { n: String(run.number) } }),
  );
  return (
    <>
      <Card>
        <NameAndTags what="run" {...draft} />
      </Card>
      {error && <ProblemNotice problem={errorText(error)} />}
      <StartButton
        start={start}
        pending={pending}
        obstacles={draft.obstacles.length > 0 && <ProblemList of={draft.obstacles} />}
      >
        <QueueNote draft={draft} />
      </StartButton>
    </>
  );
}

interface NamingProps {
  what: 'run' | 'study';
  name: string;
  setName: (name: string) => void;
  tags: string[];
  setTags: (tags: string[]) => void;
}

/** The fields for name and tags. */
export function NameAndTags({ what, name, setName, tags, setTags }: NamingProps) {
  return (
    <div className="fields naming">
      <TextInput
        label={`name of the ${what}`}
        placeholder="optional"
        maxLength={what === 'run' ? 200 : 100}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <TagsInput
        label="tags"
        placeholder={tags.length === 0 ? 'optional' : ''}
        value={tags}
        onChange={setTags}
        maxTags={20}
      />
    </div>
  );
}

/** Starts what is ready once a wish, by button or by key. */
export function useStart<Started>(
  ready: boolean,
  begin: (wish: IdempotentRequest) => Promise<Started>,
  go: (started: Started) => unknown,
) {
  const [wish] = useState(() => new IdempotentRequest());
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => begin(wish),
    onSuccess: go,
  });
  const start = () => {
    if (ready && !isPending) mutate();
  };
  useHotkeys([['mod+Enter', start]], []);
  return { start, pending: isPending, error };
}

interface StartProps {
  start: () => void;
  pending: boolean;
  /** What is in the way; nothing when nothing is. */
  obstacles: ReactNode;
  /** What is to be said when nothing is in the way. */
  children?: ReactNode;
}

/** The button, and beside it what is in the way. */
export function StartButton({ start, pending, obstacles, children }: StartProps) {
  return (
    <div className="row start">
      <Button
        variant="filled"
        h={40}
        px={28}
        fz={15}
        loading={pending}
        aria-disabled={Boolean(obstacles)}
        aria-describedby="start-state"
        onClick={start}
        className={obstacles ? 'blocked' : ''}
      >
        Start
      </Button>
      <div id="start-state" role="status">
        {obstacles || (
          <span className="mute">
            or <kbd>Ctrl</kbd> <kbd>Enter</kbd>
            {children}
          </span>
        )}
      </div>
    </div>
  );
}

function QueueNote({ draft: { plan } }: { draft: RunDraft }) {
  const { data } = useInfiniteQuery(runsQuery({}));
  const before = plan ? blockingRun(plan, data?.pages.flatMap((page) => page.runs) ?? []) : null;
  return before && ` · waits behind #${before.number} on ${before.device}`;
}
