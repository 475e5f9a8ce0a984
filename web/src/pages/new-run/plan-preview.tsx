// Before it starts: what it takes, what it writes, what the number will tell, what to mind.
import { bytes, duration, text } from '../../model/format/numbers';
import { errorText } from '../../model/format/problem-text';
import { caveats, durationText, writesText } from '../../model/job/plan-summary';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import type { JobDraft } from './use-job';

/** The plan in words. */
export function PlanPreview({
  draft: { plan, planned, planError },
  title,
}: {
  draft: JobDraft;
  title: string;
}) {
  if (planError) return <ProblemNotice problem={errorText(planError)} />;
  const worries = plan ? caveats(plan) : [];
  return (
    <Card title={title} className={planned ? '' : 'stale'}>
      {plan && plan.phases.length > 0 ? (
        <dl className="before">
          <dt>takes</dt>
          <dd>{durationText(plan)}</dd>
          <dt>writes</dt>
          <dd>{writesText(plan)}</dd>
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
