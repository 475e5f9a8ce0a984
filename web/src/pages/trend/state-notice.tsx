// The series' state relative to its baseline.
import { Button } from '@mantine/core';
import type { Trend } from '../../api';
import { usePin, useUnpin } from '../../charts/use-baseline';
import { withGroups } from '../../model/compare/selection';
import { plural } from '../../model/format/numbers';
import { dateTime } from '../../model/format/time';
import { STATES } from '../../model/trend/text';
import { LinkButton } from '../../ui/link-button';
import { Notice } from '../../ui/parts';

export function StateNotice({ trend }: { trend: Trend }) {
  const { baseline, state } = trend;
  const { unpin, pending } = useUnpin(trend);
  if (!baseline || !state) return <NoBaseline trend={trend} />;
  const { label, tone } = STATES[state.state];
  const [first = '', ...others] = sentences(state.reason);
  const pinned = `Baseline: ${plural(baseline.runs.length, 'run')}, pinned ${dateTime(baseline.pinned_at_ms)}`;
  return (
    <Notice
      tone={tone}
      badge={label}
      title={first}
      detail={
        <>
          {others.length > 0 && <p>{others.join(' ')}</p>}
          <p>{pinned}</p>
        </>
      }
      actions={
        <>
          {state.runs.length > 0 && (
            <LinkButton
              to="/compare"
              variant="filled"
              search={{
                ...withGroups({}, [baseline.runs.join(','), state.runs.join(',')]),
                ...(baseline.threshold_percent && {
                  threshold: String(baseline.threshold_percent),
                }),
              }}
            >
              Compare with baseline
            </LinkButton>
          )}
          <Button loading={pending} onClick={unpin}>
            Unpin
          </Button>
        </>
      }
    />
  );
}

function NoBaseline({ trend }: { trend: Trend }) {
  const { pin, pending } = usePin(trend);
  const newest = trend.points.findLast(({ runs }) => runs.length > 0);
  return (
    <Notice
      badge="No baseline"
      title="Pin a group as the baseline to see whether later groups are better or worse."
      actions={
        newest && (
          <Button loading={pending} onClick={() => pin(newest.runs)}>
            Pin the newest group
          </Button>
        )
      }
    />
  );
}

/** Splits text into sentences, but not at decimal points. */
const sentences = (text: string) => text.split(/(?<=[.!?])\s+(?=[A-Z#])/);
