// The empty history and its next step.
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { IdempotentRequest, startRun } from '../../api/start';
import { errorText } from '../../model/format/problem-text';
import { DEMO_RUN } from '../../model/job/demo';
import { LinkButton } from '../../ui/link-button';
import { Empty } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { usePreloadRunPage } from '../../ui/use-preload';

/** What stands here before the first run. */
export function FirstVisit() {
  usePreloadRunPage();
  const navigate = useNavigate();
  const [wish] = useState(() => new IdempotentRequest());
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => startRun(DEMO_RUN, wish),
    onSuccess: (run) => navigate({ to: '/runs/$n', params: { n: String(run.number) } }),
  });
  return (
    <>
      {error && <ProblemNotice problem={errorText(error)} onRetry={() => mutate()} />}
      <Empty
        title="No runs yet"
        actions={
          <>
            <Button variant="filled" h={36} loading={isPending} onClick={() => mutate()}>
              Run the 10-second demo
            </Button>
            <LinkButton to="/new" h={36}>
              Build a run
            </LinkButton>
          </>
        }
      >
        The demo reads 4 KiB blocks at random from a file of 256 MiB that it makes under the first
        target root, past the page cache, for ten seconds. It touches nothing else.
      </Empty>
    </>
  );
}
