// Buttons that pin the comparison's baseline group as the baseline of its series, and open the
// trend.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Comparison, RunSummary } from '../../api';
import { pinnedTrendsQuery } from '../../api/queries';
import { usePin, useUnpin } from '../../charts/use-baseline';
import { includedRuns } from '../../model/compare/metrics';
import { isBaseline } from '../../model/trend/text';
import { LinkButton } from '../../ui/link-button';

/** Renders nothing unless all included runs in the group belong to one series. */
export function BaselineButtons({ comparison }: { comparison: Comparison }) {
  const included = includedRuns(comparison, comparison.baseline);
  const runs = included.flatMap((index) => comparison.runs[index]?.run ?? []);
  const [first] = runs;
  const { job_fingerprint, machine_fingerprint } = first ?? {};
  if (!job_fingerprint || !machine_fingerprint) return null;
  const isSeries = runs.every(
    (run) =>
      run.job_fingerprint === job_fingerprint && run.machine_fingerprint === machine_fingerprint,
  );
  if (!isSeries) return null;
  return <PinButton series={{ job_fingerprint, machine_fingerprint }} runs={runs} />;
}

interface PinButtonProps {
  series: { job_fingerprint: string; machine_fingerprint: string };
  runs: readonly RunSummary[];
}

function PinButton({ series, runs }: PinButtonProps) {
  const { data } = useQuery(pinnedTrendsQuery);
  const { pin, pending } = usePin(series);
  const { unpin, pending: unpinning } = useUnpin(series);
  const numbers = runs.map(({ number }) => number);
  const { job_fingerprint: job, machine_fingerprint: machine } = series;
  const pinned = data?.series.find(
    (other) => other.job_fingerprint === job && other.machine_fingerprint === machine,
  );
  return (
    <>
      <LinkButton to="/trends/$job/$machine" params={{ job, machine }}>
        Trend
      </LinkButton>
      {pinned && isBaseline(numbers, pinned) ? (
        <Button loading={unpinning} onClick={unpin}>
          Unpin baseline
        </Button>
      ) : (
        <Button disabled={!data} loading={pending} onClick={() => pin(numbers)}>
          Pin baseline
        </Button>
      )}
    </>
  );
}
