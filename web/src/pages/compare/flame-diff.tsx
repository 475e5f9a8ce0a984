// Where the processor time of two profiled runs differs: another one against the baseline.
import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import type { Comparison } from '../../api';
import { FlameGraph } from '../../charts/flame-graph';
import { Card } from '../../ui/parts';

/** The differential flame graph; nothing where the baseline or all others have no stacks. */
export function FlameDiff({ comparison: { runs, baseline } }: { comparison: Comparison }) {
  const profiled = runs.filter(({ profiled }) => profiled).map(({ run }) => run.number);
  const others = profiled.filter((number) => number !== baseline);
  const [chosen, setChosen] = useState<number | null>(null);
  const other = others.find((number) => number === chosen) ?? others[0];
  if (!profiled.includes(baseline) || other === undefined) return null;
  return (
    <Card
      title={`Processor time of #${other} against #${baseline}`}
      aside={
        others.length > 1 && (
          <NativeSelect
            aria-label="Run to hold against the baseline"
            value={String(other)}
            onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}
            data={others.map((number) => ({ value: String(number), label: `#${number}` }))}
          />
        )
      }
    >
      <FlameGraph
        path={`/compare/flame.svg?runs=${baseline},${other}`}
        words={`Differential flame graph: what #${other} spends more processor time in than #${baseline} is red, what less is blue`}
      />
    </Card>
  );
}
