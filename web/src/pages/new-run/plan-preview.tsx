// The server's plan, shown before the start: duration, written bytes, and caveats.
import { memo } from 'react';
import type { Plan } from '../../api';
import { bytes, text, UNKNOWN } from '../../model/format/numbers';
import { duration } from '../../model/format/time';
import { caveats, durationText, writesText } from '../../model/job/plan-summary';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import type { PlanState } from './use-plan';

type PlanPreviewProps = PlanState<Plan> & { title: string };

export const PlanPreview = memo(({ plan, isPlanCurrent, planError, title }: PlanPreviewProps) => {
  if (planError) return <ProblemNotice error={planError} />;
  return (
    <Card title={title} className={isPlanCurrent ? '' : 'stale'}>
      {plan && plan.phases.length > 0 ? (
        <PlanFacts plan={plan} />
      ) : (
        <p className="mute">The plan appears when the job is complete and has no errors.</p>
      )}
    </Card>
  );
});

function PlanFacts({ plan }: { plan: Plan }) {
  const warnings = caveats(plan);
  return (
    <dl className="plan-facts">
      <dt>Duration</dt>
      <dd>{durationText(plan)}</dd>
      <dt>Writes</dt>
      <dd>{writesText(plan)}</dd>
      <dt>Measures</dt>
      <dd>{plan.measures || UNKNOWN}</dd>
      <dt>Samples</dt>
      <dd>every {duration(plan.sample_ms)}</dd>
      {warnings.length > 0 && <dt>Caveats</dt>}
      {warnings.map((warning) => (
        <dd key={warning} className="warning">
          {warning}
        </dd>
      ))}
      <dt>Memory</dt>
      <dd>{text(bytes(plan.estimate.buffer_bytes))} for I/O buffers</dd>
    </dl>
  );
}
