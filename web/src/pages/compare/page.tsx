// Two to eight runs side by side: comparability, depth gauges, metrics against a baseline, overlaid
// time series, and differences. The URL holds the comparison.
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Comparison } from '../../api';
import { compareQuery } from '../../api/queries';
import { Overlays } from '../../charts/overlays';
import { areSingleRuns } from '../../model/compare/metrics';
import { MAX_RUNS, omittedRunNumbers, parseRunNumbers } from '../../model/compare/run-numbers';
import {
  type CompareParameters,
  type CompareSearch,
  GROUP_KEYS,
  groupTexts,
  toParameters,
  withGroups,
} from '../../model/compare/selection';
import { copyText } from '../../ui/clipboard';
import { Card, Notice, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { Answer } from './answer';
import { BaselineButtons } from './baseline-buttons';
import { Differences } from './differences';
import { ExportMenu } from './export-menu';
import { FlameDiff } from './flame-diff';
import { Gauges } from './gauges';
import { GroupForm } from './group-form';
import { MetricsTable } from './metrics-table';
import { RunChips } from './run-chips';
import { RunPicker } from './run-picker';
import { Strips } from './strips';
import { useExistingRuns } from './use-existing-runs';
import './compare.css';

const route = getRouteApi('/compare');

export function ComparePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const parameters = useMemo(() => toParameters(search), [search]);
  const texts = groupTexts(search);
  const open = (next: CompareSearch) => void navigate({ search: next, resetScroll: false });
  const runs = useMemo(() => parseRunNumbers(search.runs), [search.runs]);
  const { data, error, refetch, missing } = useComparison(search, parameters, runs);
  const omitted = omittedRunNumbers(search.runs);
  const showRuns = (numbers: readonly number[], baseline = search.baseline) =>
    open(runsSearch(numbers, baseline));
  const labels = data?.groups.map(({ label }) => label) ?? runs.map((number) => `#${number}`);
  /** Maps a group in the comparison to its run. Groups do not include missing runs. */
  const runOf = (group: number) => runs.filter((number) => !missing.includes(number))[group];
  const title = parameters ? `Compare ${labels.join(', ')}` : 'Compare';
  const isOfRuns = texts.length === 0;

  return (
    <Page title={title}>
      <div className="row">
        <h1 className="breaks">{title}</h1>
        <span className="push" />
        {parameters && isOfRuns && runs.length < MAX_RUNS && (
          <AddRun onAdd={(added) => showRuns([...runs, ...added].slice(0, MAX_RUNS))} />
        )}
        {data && parameters && <BaselineButtons comparison={data} />}
        {data && parameters && <ExportMenu parameters={parameters} />}
        {parameters && (
          <Button onClick={() => void copyText('Link', location.href)}>Copy link</Button>
        )}
      </div>
      {missing.length > 0 && (
        <Notice
          alert
          tone="bad"
          badge="Incomplete"
          title={`${numberList(missing)} no longer ${missing.length > 1 ? 'exist' : 'exists'}.`}
          detail="The other runs are compared."
          actions={
            <Button onClick={() => showRuns(runs.filter((number) => !missing.includes(number)))}>
              Remove from comparison
            </Button>
          }
        />
      )}
      {parameters && omitted.length > 0 && (
        <Notice
          alert
          tone="cache"
          badge="Incomplete"
          title={`${numberList(omitted)} ${omitted.length > 1 ? 'are' : 'is'} not compared.`}
          detail={`A comparison shows at most ${MAX_RUNS} runs. Remove a run to add another one, or compare groups.`}
        />
      )}
      {!parameters && <RunPicker initial={runs} onCompare={showRuns} />}
      {!parameters && <GroupForm search={search} onCompare={open} />}
      {error && parameters && (
        <>
          {isOfRuns ? (
            <RunChips
              numbers={runs}
              onRemove={(n) => showRuns(runs.filter((other) => other !== n))}
            />
          ) : (
            <GroupForm search={search} onCompare={open} />
          )}
          <ProblemNotice error={error} retry={refetch} />
        </>
      )}
      {data && parameters && (
        <ComparisonView
          comparison={data}
          onRemove={(group) =>
            isOfRuns
              ? showRuns(runs.filter((number) => number !== runOf(group)))
              : open(withGroups(search, texts.toSpliced(group, 1)))
          }
          onBaseline={(group) =>
            isOfRuns
              ? showRuns(runs, String(runOf(group)))
              : open({ ...withGroups(search, texts), baseline: GROUP_KEYS[group] })
          }
        />
      )}
      {data && !isOfRuns && <GroupForm key={texts.join()} search={search} onCompare={open} />}
    </Page>
  );
}

const numberList = (numbers: readonly number[]) =>
  `${numbers.length > 1 ? 'Runs' : 'Run'} ${numbers.map((number) => `#${number}`).join(', ')}`;

/** The comparison's search parameters, excluding runs that no longer exist. */
function useComparison(
  search: CompareSearch,
  parameters: CompareParameters | null,
  runs: readonly number[],
) {
  const query = useQuery({ ...compareQuery(parameters ?? {}), enabled: parameters !== null });
  const found = useExistingRuns(groupTexts(search).length === 0 ? runs : [], query.error);
  const remaining = found && toParameters({ ...search, runs: found.existing.join(',') });
  const rest = useQuery({ ...compareQuery(remaining ?? {}), enabled: Boolean(remaining) });
  return found && remaining ? { ...rest, missing: found.missing } : { ...query, missing: [] };
}

/** Keeps the baseline if it is still one of the runs. */
function runsSearch(numbers: readonly number[], baseline: string | undefined): CompareSearch {
  const isKept = numbers.some((number) => String(number) === baseline);
  return { runs: numbers.join(','), baseline: isKept ? baseline : String(numbers[0] ?? '') };
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
  onRemove: (group: number) => void;
  onBaseline: (group: number) => void;
}

function ComparisonView({ comparison, ...actions }: ComparisonViewProps) {
  const { groups, baseline } = comparison;
  const others = groups.map((_, index) => index).filter((index) => index !== baseline);
  const [chosen, setChosen] = useState<number | null>(null);
  const shown = others.find((index) => index === chosen) ?? others[0] ?? 0;
  const isSingle = areSingleRuns(comparison);
  const isPair = isSingle && groups.length === 2;
  const select = others.length > 1 && !isSingle && (
    <NativeSelect
      aria-label="Group to compare with the baseline"
      value={String(shown)}
      onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}
      data={others.map((index) => ({ value: String(index), label: groups[index]?.label ?? '' }))}
    />
  );
  const aside = (
    <>
      {select}
      <span className="small">vs {groups[baseline]?.label}</span>
    </>
  );
  return (
    <>
      <Answer comparison={comparison} />
      <div className={isPair ? 'pair' : 'stack'}>
        {isSingle && <Gauges comparison={comparison} {...actions} />}
        <Card title="Metrics" aside={aside}>
          <MetricsTable comparison={comparison} shown={shown} />
        </Card>
        <Strips comparison={comparison} />
        <Differences comparison={comparison} />
        {!isSingle && <Gauges comparison={comparison} {...actions} />}
      </div>
      <Overlays comparison={comparison} />
      <FlameDiff comparison={comparison} />
    </>
  );
}
