// Where the runner's processor time went, for runs with profile=1: the picture, and its hottest functions in words.
import type { Run } from '../../api';
import { FlameGraph } from '../../charts/flame-graph';
import { type Live, useLiveValue } from '../../charts/use-live';
import { isFinal } from '../../model/fold/run-fold';
import { count, share } from '../../model/format/numbers';
import { hotFunctions } from '../../model/run/hot-functions';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

/** Functions that the table names. */
const NAMED = 8;

/** The flame graph; nothing where no stacks were taken. */
export function CpuProfile({ run, live: { fold, chartGroup } }: { run: Run; live: Live }) {
  const profile = useLiveValue(chartGroup, () =>
    isFinal(fold.status) ? fold.result?.report.profile : null,
  );
  if (!profile) return null;
  const { samples, frequency_hz, omitted_stacks } = profile;
  const left = omitted_stacks > 0 ? `, without ${count(omitted_stacks)} of the rarest stacks` : '';
  return (
    <Card
      title="Where the processor time went"
      aside={
        <span className="small">{`${count(samples)} samples at ${frequency_hz} Hz${left}`}</span>
      }
    >
      <FlameGraph
        path={`/runs/${run.number}/flame.svg`}
        words="Flame graph of the runner; the table below names its hottest functions"
      />
      <NamedRows
        mono
        label="Hottest functions"
        corner="function"
        heads={['of the samples ended there']}
        rows={hotFunctions(profile, NAMED).map(({ name, share: part }) => ({
          key: name,
          name,
          cells: [share(part)],
        }))}
      />
    </Card>
  );
}
