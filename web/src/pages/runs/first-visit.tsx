// Empty state of the run list: what Leadline shows, the demo run, and experiments.
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { IdempotentRequest, startRun } from '../../api/start';
import { DEMO_RUN } from '../../model/job/demo';
import { LinkButton } from '../../ui/link-button';
import { Card, Empty } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { useOpenRun } from '../../ui/run-links';
import { usePreloadRunPage } from '../../ui/use-preload';

const ExampleGauges = lazy(() => import('../../charts/example-gauges'));

export function FirstVisit() {
  usePreloadRunPage();
  const [request] = useState(() => new IdempotentRequest());
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => startRun(DEMO_RUN, request),
    onSuccess: useOpenRun(),
  });
  return (
    <>
      <ProblemNotice error={error} retry={mutate} />
      <div className="first-visit">
        <Empty
          title="No runs yet"
          actions={
            <>
              <Button variant="filled" h={36} loading={isPending} onClick={() => mutate()}>
                Run the 10-second demo
              </Button>
              <LinkButton to="/new" h={36}>
                Create a run
              </LinkButton>
            </>
          }
        >
          Leadline measures storage and shows which layer served the I/O. The demo creates a 256 MiB
          file in the first target root and reads random 4 KiB blocks from it for ten seconds,
          bypassing the page cache. It changes nothing else.
        </Empty>
        <Card title="Example">
          <div className="example-gauges">
            <Suspense>
              <ExampleGauges />
            </Suspense>
          </div>
          <p className="mute">
            <Link to="/new" hash="experiments">
              Experiments
            </Link>{' '}
            repeat published benchmarks whose results did not come from the disk.
          </p>
        </Card>
      </div>
    </>
  );
}
