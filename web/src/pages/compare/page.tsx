// Two to eight runs side by side: comparability, depth gauges, metrics against a baseline, overlaid
// time series, and differences. The URL holds the comparison.
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Comparison } from '../../api';
import { compareQuery } from '../../api/queries';
import { Overlays } from '../../charts/overlays';
import { MAX_RUNS, MIN_RUNS, parseRunNumbers } from '../../model/compare/metrics';
import { copyText } from '../../ui/clipboard';
import { Card, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { Comparability } from './comparability';
import { Differences } from './differences';
import { FlameDiff } from './flame-diff';
import { Gauges } from './gauges';
import { MetricsTable } from './metrics-table';
import { RunChips } from './run-chips';
import { RunPicker } from './run-picker';
import './compare.css';

const route = getRouteApi('/compare');

export function ComparePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const numbers = useMemo(() => parseRunNumbers(search.runs), [search.runs]);
  const requested = Number(search.baseline);
  const baseline = numbers.includes(requested) ? requested : numbers[0];
  const show = (runs: readonly number[], base = baseline) => {
    const kept = base !== undefined && runs.includes(base) ? base : (runs[0] ?? '');
    void navigate({ search: { runs: runs.join(','), baseline: String(kept) } });
  };
  const remove = (n: number) => show(numbers.filter((other) => other !== n));
  const isComparison = numbers.length >= MIN_RUNS;
  const { data, error, refetch } = useQuery({
    ...compareQuery(numbers, baseline),
    enabled: isComparison,
  });
  const title = isComparison ? `Compare ${numbers.map((n) => `#${n}`).join(', ')}` : 'Compare';

  return (
    <Page title={title}>
      <div className="row">
        <h1>{title}</h1>
        <span className="push" />
        {isComparison && numbers.length < MAX_RUNS && (
          <AddRun onAdd={(added) => show([...numbers, ...added].slice(0, MAX_RUNS))} />
        )}
        {isComparison && (
          <Button onClick={() => void copyText('Link', location.href)}>Copy link</Button>
        )}
      </div>
      {!isComparison && <RunPicker initial={numbers} onCompare={show} />}
      {error && isComparison && (
        <>
          <RunChips numbers={numbers} onRemove={remove} />
          <ProblemNotice error={error} retry={refetch} />
        </>
      )}
      {data && isComparison && (
        <ComparisonView comparison={data} onRemove={remove} onBaseline={(n) => show(numbers, n)} />
      )}
    </Page>
  );
}

function AddRun({ onAdd }: { onAdd: (numbers: number[]) => void }) {
  return (
    <form className="row tight" action={(form) => onAdd(parseRunNumbers(String(form.get('run'))))}>
      <TextInput
        name="run"
        aria-label="Run number to add"
        placeholder="Run number"
        w={104}
        inputMode="numeric"
        required
      />
      <Button type="submit">Add</Button>
    </form>
  );
}

interface ComparisonViewProps {
  comparison: Comparison;
  onRemove: (n: number) => void;
  onBaseline: (n: number) => void;
}

function ComparisonView({ comparison, ...actions }: ComparisonViewProps) {
  return (
    <>
      <Comparability comparison={comparison} />
      <div className="side-by-side">
        <Gauges comparison={comparison} {...actions} />
        <div className="tables">
          <Card title="Metrics" aside={<span className="small">vs #{comparison.baseline}</span>}>
            <MetricsTable comparison={comparison} />
          </Card>
          <Differences comparison={comparison} />
        </div>
      </div>
      <Overlays comparison={comparison} />
      <FlameDiff comparison={comparison} />
    </>
  );
}
