// Two to eight runs side by side. First whether they may be compared at all, then the gauges, the numbers against a
// baseline, the courses laid over each other, and only what differs. The address is the comparison.
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Comparison } from '../../api';
import { compareQuery } from '../../api/queries';
import { Overlays } from '../../charts/overlays';
import { hasDirectRun } from '../../model/compare/direct-run';
import { MAX_RUNS, MIN_RUNS, parseRunNumbers } from '../../model/compare/metrics';
import { errorText } from '../../model/format/problem-text';
import { copyText } from '../../ui/clipboard';
import { Card, Notice, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { RunPicker } from './run-picker';
import { RunChips } from './run-chips';
import { Differences } from './differences';
import { FlameDiff } from './flame-diff';
import { Gauges } from './gauges';
import { MetricsTable } from './metrics-table';
import { RerunButton } from './rerun';
import './compare.css';

const route = getRouteApi('/compare');

/** The page. */
export function ComparePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const numbers = useMemo(() => parseRunNumbers(search.runs), [search.runs]);
  const wished = Number(search.baseline);
  const baseline = numbers.includes(wished) ? wished : numbers[0];
  const show = (runs: readonly number[], base = baseline) =>
    void navigate({
      search: {
        runs: runs.join(','),
        baseline: String(base !== undefined && runs.includes(base) ? base : (runs[0] ?? '')),
      },
    });
  const takeOut = (n: number) => show(numbers.filter((other) => other !== n));
  const enough = numbers.length >= MIN_RUNS;
  const { data, error, refetch } = useQuery({
    ...compareQuery(numbers, baseline),
    enabled: enough,
  });
  const title = enough ? `Compare ${numbers.map((n) => `#${n}`).join(', ')}` : 'Compare';

  return (
    <Page title={title}>
      <div className="row">
        <h1>{title}</h1>
        <span className="push" />
        {enough && numbers.length < MAX_RUNS && (
          <AddRun onAdd={(more) => show([...numbers, ...more].slice(0, MAX_RUNS))} />
        )}
        {enough && <Button onClick={() => void copyText('Link', location.href)}>Copy link</Button>}
      </div>
      {!enough && <RunPicker chosen={numbers} onChoose={show} />}
      {error && enough && (
        <>
          <RunChips numbers={numbers} onRemove={takeOut} />
          <ProblemNotice problem={errorText(error)} onRetry={() => void refetch()} />
        </>
      )}
      {data && enough && (
        <ComparisonView comparison={data} onRemove={takeOut} onBaseline={(n) => show(numbers, n)} />
      )}
    </Page>
  );
}

function AddRun({ onAdd }: { onAdd: (numbers: number[]) => void }) {
  return (
    <form className="row tight" action={(form) => onAdd(parseRunNumbers(String(form.get('run'))))}>
      <TextInput
        name="run"
        aria-label="Number of a run to add"
        placeholder="Add run #"
        w={96}
        inputMode="numeric"
        required
      />
      <Button type="submit">Add</Button>
    </form>
  );
}

function ComparisonView({
  comparison,
  onRemove,
  onBaseline,
}: {
  comparison: Comparison;
  onRemove: (n: number) => void;
  onBaseline: (n: number) => void;
}) {
  const { comparable, confidence } = comparison;
  const rerun =
    comparable.rerun && !hasDirectRun(comparison, comparable.rerun.run) ? comparable.rerun : null;
  const more = (
    <>
      {comparable.reasons.map((reason) => (
        <p key={reason}>{reason}</p>
      ))}
      {comparable.same_test && <p>{confidence.sentence}</p>}
    </>
  );
  return (
    <>
      <Notice
        tone={comparable.same_test ? 'device' : 'bad'}
        badge={comparable.same_test ? 'same test' : 'not the same test'}
        say={comparable.sentence}
        more={more}
        actions={rerun && <RerunButton rerun={rerun} />}
      />
      <div className="side-by-side">
        <Gauges comparison={comparison} onRemove={onRemove} onBaseline={onBaseline} />
        <div className="tables">
          <Card
            title="Numbers"
            aside={<span className="small">against #{comparison.baseline}</span>}
          >
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
