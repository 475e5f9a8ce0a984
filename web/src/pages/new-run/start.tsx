// Name, tags and start button for a run or study. While the button is disabled, the problems are
// shown next to it.
import { Button, TagsInput, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { memo, type ReactNode, useState } from 'react';
import type { Plan } from '../../api';
import { runsQuery } from '../../api/queries';
import { IdempotentRequest, startRun } from '../../api/start';
import { blockingRun } from '../../model/job/blocking-run';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { useOpenRun } from '../../ui/run-links';
import { usePreloadRunPage } from '../../ui/use-preload';
import { LineNumber, ProblemList } from './problem-list';
import type { RunDraft } from './use-run-draft';

type StartRunProps = Pick<RunDraft, 'plan' | 'problems' | 'request'> &
  Omit<NameAndTagsProps, 'kind'>;

export const StartRun = memo(({ plan, problems, request, ...naming }: StartRunProps) => {
  usePreloadRunPage();
  const { start, pending, error } = useStart((key) => startRun(request, key), useOpenRun());
  return (
    <>
      <Card>
        <NameAndTags kind="run" {...naming} />
      </Card>
      <ProblemNotice error={error} />
      <StartButton
        start={start}
        pending={pending}
        problems={problems.length > 0 && <ProblemList problems={problems} prefix={LineNumber} />}
      >
        <QueueNote plan={plan} />
      </StartButton>
    </>
  );
});

interface NameAndTagsProps {
  kind: 'run' | 'study';
  name: string;
  setName: (name: string) => void;
  tags: string[];
  setTags: (tags: string[]) => void;
}

export function NameAndTags({ kind, name, setName, tags, setTags }: NameAndTagsProps) {
  return (
    <div className="fields two-columns">
      <TextInput
        label={kind === 'run' ? 'Run name' : 'Study name'}
        placeholder="Optional"
        maxLength={kind === 'run' ? 200 : 100}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <TagsInput
        label="Tags"
        placeholder={tags.length === 0 ? 'Optional' : ''}
        value={tags}
        onChange={setTags}
        maxTags={20}
      />
    </div>
  );
}

/** Repeated clicks send the same idempotency key, so only one run starts. */
export function useStart<Started>(
  send: (request: IdempotentRequest) => Promise<Started>,
  onSuccess: (started: Started) => unknown,
) {
  const [request] = useState(() => new IdempotentRequest());
  const { mutate, isPending, error } = useMutation({ mutationFn: () => send(request), onSuccess });
  return { start: () => mutate(), pending: isPending, error };
}

interface StartButtonProps {
  start: () => void;
  pending: boolean;
  /** If set, shown instead of `children`, and the start is disabled. */
  problems: ReactNode;
  children?: ReactNode;
}

/** Button that starts the run or study, also with Ctrl+Enter. */
export function StartButton({ start, pending, problems, children }: StartButtonProps) {
  const isBlocked = Boolean(problems);
  const startIfReady = () => {
    if (!isBlocked && !pending) start();
  };
  useHotkeys([['mod+Enter', startIfReady]], []);
  return (
    <div className="row">
      <Button
        variant="filled"
        h={40}
        px={28}
        fz={15}
        loading={pending}
        aria-disabled={isBlocked}
        aria-describedby="start-status"
        onClick={startIfReady}
        className={isBlocked ? 'blocked' : ''}
      >
        Start
      </Button>
      <div id="start-status" role="status">
        {problems || (
          <span className="mute">
            or <kbd>Ctrl</kbd>+<kbd>Enter</kbd>
            {children}
          </span>
        )}
      </div>
    </div>
  );
}

function QueueNote({ plan }: { plan: Plan | undefined }) {
  const { data } = useInfiniteQuery(runsQuery({}));
  const runs = data?.pages.flatMap((page) => page.runs) ?? [];
  const blocking = plan && blockingRun(plan, runs);
  return blocking && ` · queued after #${blocking.number} on ${blocking.device}`;
}
