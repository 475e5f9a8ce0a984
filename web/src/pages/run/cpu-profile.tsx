// The runner's CPU profile (profile=1): flame graph and functions with the most samples.
import type { Run } from '../../api';
import { FlameGraph } from '../../charts/flame-graph';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { isFinal } from '../../model/fold/run-fold';
import { count, share } from '../../model/format/numbers';
import { hotFunctions } from '../../model/run/hot-functions';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';
import { useIsSaved } from '../../ui/saved';

/** Maximum number of table rows. */
const MAX_FUNCTIONS = 8;

export function CpuProfile({ run, live: { fold, chartGroup } }: { run: Run; live: LiveRun }) {
  const profile = useLiveValue(chartGroup, () =>
    isFinal(fold.status) ? fold.result?.report.profile : null,
  );
  const isSaved = useIsSaved();
  if (!profile) return null;
  const { samples, frequency_hz, omitted_stacks } = profile;
  const omitted = omitted_stacks > 0 ? `, ${count(omitted_stacks)} rare stacks omitted` : '';
  return (
    <Card
      title="CPU profile"
      aside={
        <span className="small">{`${count(samples)} samples at ${frequency_hz} Hz${omitted}`}</span>
      }
    >
      {!isSaved && (
        <FlameGraph
          path={`/runs/${run.number}/flame.svg`}
          alt="Flame graph of the runner; the table below lists its hottest functions"
        />
      )}
      <NamedRows
        mono
        label="Hottest functions"
        corner="Function"
        headers={['Self time']}
        rows={hotFunctions(profile, MAX_FUNCTIONS).map(({ name, share: part }) => ({
          name,
          cells: [share(part)],
        }))}
      />
    </Card>
  );
}
