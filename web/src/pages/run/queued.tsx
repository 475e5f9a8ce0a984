// A queued run: its position, when it will start, and what it will do.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Run } from '../../api';
import { planQuery, runQuery } from '../../api/queries';
import { UNKNOWN } from '../../model/format/numbers';
import { duration } from '../../model/format/time';
import { caveats, durationText, writesText } from '../../model/job/plan-summary';
import { startsInMs } from '../../model/run/queue';
import { Facts } from '../../ui/facts';
import { Card, Notice } from '../../ui/parts';

/** Maximum number of runs ahead to load for an estimate. */
const MAX_AHEAD = 20;
const REFRESH_MS = 5000;

/** Replaces the results until the run starts. */
export default function Queued({ run }: { run: Run }) {
  return (
    <>
      <QueuedNotice run={run} />
      <QueuedPlan run={run} />
    </>
  );
}

function QueuedNotice({ run }: { run: Run }) {
  const { queue } = run;
  const startsIn = useStartEstimate(run);
  return (
    <Notice
      badge="Queued"
      title={queue ? `Position ${queue.position}: ${queue.reason}.` : 'Waiting to start.'}
      detail={
        <>
          {startsIn !== null && <p>Estimated start: {startText(startsIn)}.</p>}
          <p>The run starts automatically, even if you close this page.</p>
        </>
      }
    />
  );
}

const startText = (ms: number) =>
  ms === 0 ? 'soon' : `in about ${duration(Math.ceil(ms / 1000) * 1000)}`;

/** Milliseconds until the run starts; null if unknown. */
function useStartEstimate(run: Run): number | null {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ['start estimate', run.number, run.queue],
    staleTime: 0,
    refetchInterval: REFRESH_MS,
    queryFn: async () => {
      const ahead: Run[] = [];
      let next = run.queue?.behind ?? null;
      while (next !== null && ahead.length < MAX_AHEAD) {
        const other = await client.fetchQuery(runQuery(next));
        ahead.push(other);
        next = other.queue?.behind ?? null;
      }
      return startsInMs(ahead, Date.now());
    },
  });
  return data ?? null;
}

function QueuedPlan({ run: { requested } }: { run: Run }) {
  const { data: plan } = useQuery(planQuery(requested));
  if (!plan || plan.phases.length === 0) return null;
  return (
    <Card title="Plan">
      <div className="stack">
        <Facts
          facts={[
            ['Duration', durationText(plan)],
            ['Writes', writesText(plan)],
            ['Measures', plan.measures || UNKNOWN],
          ]}
        />
        {caveats(plan).map((caveat) => (
          <p key={caveat} className="warning">
            {caveat}
          </p>
        ))}
      </div>
    </Card>
  );
}
