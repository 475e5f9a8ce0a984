// Which runs to compare, when the address names fewer than two.
import { Button, Checkbox } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RunSummary } from '../../api';
import { runsQuery } from '../../api/queries';
import { LEAST, MOST } from '../../model/compare';
import { rate, shortCount, text } from '../../model/format';
import { inOneLine, isActive, titleOf } from '../../model/summary';
import { LinkButton } from '../../ui/link-button';
import { Card, Empty } from '../../ui/parts';

/** Recent runs with a result, to be ticked. */
export function Choose({ chosen, onChoose }: { chosen: readonly number[]; onChoose: (numbers: number[]) => void }) {
  const { data } = useInfiniteQuery(runsQuery({}));
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set(chosen));
  const runs = data?.pages.flatMap((page) => page.runs).filter((run) => !isActive(run) && run.iops !== null) ?? [];
  const toggle = (number: number) =>
    setTicked((old) => new Set(old.has(number) ? [...old].filter((n) => n !== number) : [...old, number]));
  const enough = ticked.size >= LEAST && ticked.size <= MOST;
  if (data && runs.length === 0)
    return (
      <Empty title="Nothing to compare yet" actions={<LinkButton to="/new">New run</LinkButton>}>
        A comparison takes two to eight finished runs.
      </Empty>
    );
  return (
    <Card
      title={`Choose ${LEAST} to ${MOST} runs`}
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
      <ul className="choices">
        {runs.map((run) => (
          <Choice key={run.number} run={run} ticked={ticked.has(run.number)} onToggle={() => toggle(run.number)} />
        ))}
      </ul>
    </Card>
  );
}

function Choice({ run, ticked, onToggle }: { run: RunSummary; ticked: boolean; onToggle: () => void }) {
  const line = `#${run.number} ${titleOf(run)}`;
  return (
    <li>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the checkbox in it is the control */}
      <label>
        <Checkbox checked={ticked} onChange={onToggle} />
        <span className="clip" title={line}>
          {line}
        </span>
      </label>
      <span className="mono mute clip">{inOneLine(run)}</span>
      <span>{text(shortCount(run.iops))} IOPS</span>
      <span>{text(rate(run.bytes_per_second))}</span>
    </li>
  );
}
