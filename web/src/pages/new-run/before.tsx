// Before it starts: what it takes, what it writes, what the number will tell, what to mind.
import { bytes, duration, text } from '../../model/format';
import { minds, takes, writes } from '../../model/plan-words';
import { inWords } from '../../model/told';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import type { Draft } from './use-job';

/** The plan in words. */
export function Before({ draft: { plan, planned, planError }, title }: { draft: Draft; title: string }) {
  if (planError) return <ProblemNotice problem={inWords(planError)} />;
  const worries = plan ? minds(plan) : [];
  return (
    <Card title={title} className={planned ? '' : 'stale'}>
      {plan && plan.phases.length > 0 ? (
        <dl className="before">
          <dt>takes</dt>
          <dd>{takes(plan)}</dd>
          <dt>writes</dt>
          <dd>{writes(plan)}</dd>
          <dt>will tell</dt>
          <dd>{plan.measures || '–'}</dd>
          <dt>samples</dt>
          <dd>every {duration(plan.sample_ms)}</dd>
          {worries.length > 0 && <dt>mind</dt>}
          {worries.map((worry) => (
            <dd key={worry} className="mind">
              {worry}
            </dd>
          ))}
          <dt>memory</dt>
          <dd>{text(bytes(plan.estimate.buffer_bytes))} for I/O buffers</dd>
        </dl>
      ) : (
        <p className="mute">What would happen stands here as soon as nothing is in the way.</p>
      )}
    </Card>
  );
}
