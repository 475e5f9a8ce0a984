// Which runs to compare, when the address names fewer than two. What was ticked stays so under any filter.
import { Button, Checkbox } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RunSummary } from '../../api';
import { runsQuery } from '../../api/queries';
import { MAX_RUNS, MIN_RUNS } from '../../model/compare/metrics';
import { rate, shortCount, text } from '../../model/format/numbers';
import { errorText } from '../../model/format/problem-text';
import { describeRun, isActive, runTitle } from '../../model/run/summary';
import { FilterField } from '../../ui/filter-field';
import { LinkButton } from '../../ui/link-button';
import { Card, Empty } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { RunChips } from './run-chips';

/** Recent runs with a result, to be ticked. */
export function RunPicker({
  chosen,
  onChoose,
}: {
  chosen: readonly number[];
  onChoose: (numbers: number[]) => void;
}) {
  const [q, setQ] = useState('');
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    runsQuery({ q: q || undefined }),
  );
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set(chosen));
  const runs =
    data?.pages.flatMap((page) => page.runs).filter((run) => !isActive(run) && run.iops !== null) ??
    [];
  const toggle = (number: number) =>
    setTicked(
      (old) => new Set(old.has(number) ? [...old].filter((n) => n !== number) : [...old, number]),
    );
  const enough = ticked.size >= MIN_RUNS && ticked.size <= MAX_RUNS;
  if (data && !q && !hasNextPage && runs.length === 0)
    return (
      <Empty title="Nothing to compare yet" actions={<LinkButton to="/new">New run</LinkButton>}>
        A comparison takes two to eight finished runs.
      </Empty>
    );
  return (
    <Card
      title={`Choose ${MIN_RUNS} to ${MAX_RUNS} runs`}
      aside={
        <Button
          variant="filled"
          data-key="c"
          data-does="compare the selected runs"
          disabled={!enough}
          onClick={() => onChoose([...ticked].sort((a, b) => a - b))}
        >
          Compare {ticked.size > 0 ? ticked.size : ''}
        </Button>
      }
    >
      <div className="row">
        <FilterField value={q} onChange={setQ} />
        {ticked.size > 0 && <RunChips numbers={[...ticked]} onRemove={toggle} />}
      </div>
      {error && <ProblemNotice problem={errorText(error)} onRetry={() => void refetch()} />}
      {data && runs.length === 0 && <p className="mute">No run with a result here.</p>}
      <ul className="decisions">
        {runs.map((run) => (
          <PickerRow
            key={run.number}
            run={run}
            ticked={ticked.has(run.number)}
            onToggle={() => toggle(run.number)}
          />
        ))}
      </ul>
      {hasNextPage && (
        <Button loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </Card>
  );
}

function PickerRow({
  run,
  ticked,
  onToggle,
}: {
  run: RunSummary;
  ticked: boolean;
  onToggle: () => void;
}) {
  const line = `#${run.number} ${runTitle(run)}`;
  return (
    <li>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the checkbox in it is the control */}
      <label>
        <Checkbox checked={ticked} onChange={onToggle} />
        <span className="clip" title={line}>
          {line}
        </span>
      </label>
      <span className="mono mute clip">{describeRun(run)}</span>
      <span>{text(shortCount(run.iops))} IOPS</span>
      <span>{text(rate(run.bytes_per_second))}</span>
    </li>
  );
}
