// Selection of runs, shown while the URL lists fewer than two. Changing the filter keeps the
// selection.
import { Button, Checkbox } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RunSummary } from '../../api';
import { runsQuery } from '../../api/queries';
import { MAX_RUNS, MIN_RUNS } from '../../model/compare/run-numbers';
import { rate, shortCount, text } from '../../model/format/numbers';
import { describeRun, isActive, isPartial, runTitle } from '../../model/run/summary';
import { FilterField } from '../../ui/filter-field';
import { LinkButton } from '../../ui/link-button';
import { LoadMore } from '../../ui/load-more';
import { Card, Empty } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { RunChips } from './run-chips';

interface RunPickerProps {
  initial: readonly number[];
  onCompare: (numbers: number[]) => void;
}

export function RunPicker({ initial, onCompare }: RunPickerProps) {
  const [q, setQ] = useState('');
  const query = useInfiniteQuery(runsQuery({ q: q || undefined }));
  const { data, error, refetch, hasNextPage } = query;
  const [selected, setSelected] = useState(initial);
  const runs = data?.pages.flatMap((page) => page.runs) ?? [];
  const finished = runs.filter((run) => !isActive(run) && run.iops !== null);
  const toggle = (number: number) =>
    setSelected((old) =>
      old.includes(number) ? old.filter((other) => other !== number) : [...old, number],
    );
  if (data && !q && !hasNextPage && finished.length === 0)
    return (
      <Empty
        title="Nothing to compare yet"
        actions={
          <LinkButton to="/new" variant="filled" h={36}>
            New run
          </LinkButton>
        }
      >
        A comparison requires {MIN_RUNS} to {MAX_RUNS} finished runs.
      </Empty>
    );
  return (
    <Card
      title={`Select ${MIN_RUNS} to ${MAX_RUNS} runs`}
      aside={
        <Button
          variant="filled"
          data-key="c"
          data-action="Compare selected runs"
          disabled={selected.length < MIN_RUNS || selected.length > MAX_RUNS}
          onClick={() => onCompare(selected.toSorted((a, b) => a - b))}
        >
          Compare {selected.length || ''}
        </Button>
      }
    >
      <div className="row">
        <FilterField value={q} onChange={setQ} />
        {selected.length > 0 && <RunChips numbers={selected} onRemove={toggle} />}
      </div>
      <ProblemNotice error={error} retry={refetch} />
      {data && finished.length === 0 && <p className="mute">No matching finished runs</p>}
      <ul className="run-picker">
        {finished.map((run) => (
          <PickerRow
            key={run.number}
            run={run}
            selected={selected.includes(run.number)}
            onToggle={() => toggle(run.number)}
          />
        ))}
      </ul>
      <LoadMore query={query} />
    </Card>
  );
}

interface PickerRowProps {
  run: RunSummary;
  selected: boolean;
  onToggle: () => void;
}

function PickerRow({ run, selected, onToggle }: PickerRowProps) {
  const title = `#${run.number} ${runTitle(run)}`;
  return (
    <li>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: Checkbox is the control */}
      <label>
        <Checkbox checked={selected} onChange={onToggle} />
        <span className="clip" title={title}>
          {title}
        </span>
      </label>
      <span className="mono mute clip" title={describeRun(run)}>
        {describeRun(run)}
      </span>
      <span>
        {text(shortCount(run.iops))} IOPS{isPartial(run) && ' (partial)'}
      </span>
      <span>{text(rate(run.bytes_per_second))}</span>
    </li>
  );
}
