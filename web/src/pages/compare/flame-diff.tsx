// Differential flame graph of two profiled runs: a run compared to the baseline.
import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import type { Comparison } from '../../api';
import { FlameGraph } from '../../charts/flame-graph';
import { representativeRun } from '../../model/compare/metrics';
import { Card } from '../../ui/parts';

/** Renders nothing unless the baseline and another run have a profile. */
export function FlameDiff({ comparison }: { comparison: Comparison }) {
  const { runs } = comparison;
  const baseline = representativeRun(comparison, comparison.baseline)?.run.number;
  const profiled = runs.filter(({ profiled }) => profiled).map(({ run }) => run.number);
  const others = profiled.filter((number) => number !== baseline);
  const [chosen, setChosen] = useState<number | null>(null);
  const other = others.find((number) => number === chosen) ?? others[0];
  if (baseline === undefined || !profiled.includes(baseline) || other === undefined) return null;
  return (
    <Card
      title={`CPU time: #${other} vs #${baseline}`}
      aside={
        others.length > 1 && (
          <NativeSelect
            aria-label="Run to compare with the baseline"
            value={String(other)}
            onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}
            data={others.map((number) => ({ value: String(number), label: `#${number}` }))}
          />
        )
      }
    >
      <FlameGraph
        path={`/compare/flame.svg?runs=${baseline},${other}`}
        alt={`Differential flame graph: red where #${other} uses more CPU time than #${baseline}, blue where it uses less`}
      />
    </Card>
  );
}
