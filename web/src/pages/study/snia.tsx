// Results of an SNIA test: steady state, deviations, plots and tables.
import { Button } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { SniaResults, SteadyStateData, TrackingVariable } from '../../api';
import { formatValue } from '../../model/compare/metrics';
import {
  blocksOf,
  blockText,
  cellText,
  mixesOf,
  mixText,
  SNIA_METRICS,
  SNIA_STATES,
  SNIA_TESTS,
  type SniaMetric,
  sniaCsv,
} from '../../model/study/snia';
import { copyText } from '../../ui/clipboard';
import { NamedRows } from '../../ui/named-rows';
import { Card, Notice, type Tone } from '../../ui/parts';

const SniaCharts = lazy(() => import('../../charts/snia-charts'));

export function Snia({ results }: { results: SniaResults }) {
  const { test, state, badge, sentence, label, rounds, tracking, cells } = results;
  const interruptions = rounds.filter(({ interruption }) => interruption);
  const hasCells = cells.some(({ value }) => value);
  return (
    <>
      <Notice
        tone={toneOf(results)}
        badge={badge ?? SNIA_STATES[state]}
        title={sentence}
        detail={`${SNIA_TESTS[test]}. ${label}.`}
      />
      <Deviations results={results} />
      {interruptions.length > 0 && (
        <Card title="Interruptions">
          {interruptions.map(({ round, interruption }) => (
            <p key={round}>
              Round {round}: {interruption}
            </p>
          ))}
        </Card>
      )}
      {rounds.length > 0 && (
        <Suspense fallback={<div style={{ minHeight: 480 }} />}>
          <SniaCharts results={results} />
        </Suspense>
      )}
      {tracking.length > 0 && <Determination tracking={tracking} test={test} />}
      {hasCells &&
        SNIA_METRICS[test].map((metric) => (
          <Cells key={metric.label} results={results} metric={metric} />
        ))}
    </>
  );
}

function toneOf({ badge, state }: SniaResults): Tone {
  if (badge) return 'device';
  return state === 'not_reached' || state === 'incomplete' ? 'bad' : null;
}

function Deviations({ results: { deviations } }: { results: SniaResults }) {
  if (deviations.length === 0) return null;
  return (
    <Card title="Deviations from the specification">
      <ul className="deviations">
        {deviations.map(({ code, sentence }) => (
          <li key={`${code} ${sentence}`}>{sentence}</li>
        ))}
      </ul>
    </Card>
  );
}

const HEADERS = [
  'Average',
  'Data excursion',
  'Allowed',
  'Slope excursion',
  'Allowed',
  'Linear fit (R: round)',
  'Steady',
];

interface DeterminationProps {
  tracking: readonly TrackingVariable[];
  test: SniaResults['test'];
}

function Determination({ tracking, test }: DeterminationProps) {
  const unit = SNIA_METRICS[test][0]?.unit ?? '1';
  return (
    <Card title="Steady state determination data">
      <NamedRows
        className="snia"
        label="Steady state determination data"
        corner="Variable"
        headers={HEADERS}
        rows={tracking.map(({ name, window }) => ({
          name,
          cells: window ? windowCells(window, unit) : HEADERS.map(() => '–'),
        }))}
      />
    </Card>
  );
}

function windowCells(window: SteadyStateData, unit: string): string[] {
  const text = (value: number) => formatValue(value, unit);
  const sign = window.intercept < 0 ? '−' : '+';
  return [
    text(window.average),
    text(window.excursion),
    text(window.allowed_excursion),
    text(window.slope_excursion),
    text(window.allowed_slope_excursion),
    `${signed(window.slope, unit)} · R ${sign} ${text(Math.abs(window.intercept))}`,
    window.is_steady ? 'Yes' : 'No',
  ];
}

const signed = (value: number, unit: string) =>
  `${value < 0 ? '−' : ''}${formatValue(Math.abs(value), unit)}`;

function Cells({ results, metric }: { results: SniaResults; metric: SniaMetric }) {
  const { window } = results;
  const rounds = window ? `Means of rounds ${window.first} to ${window.last}` : '';
  return (
    <Card
      title={`${metric.label}, all R/W mixes and block sizes`}
      aside={
        <>
          <span className="mute small">{rounds}</span>
          <Button onClick={() => void copyText('Rounds', sniaCsv(results))}>
            Copy rounds as CSV
          </Button>
        </>
      }
    >
      <NamedRows
        className="snia"
        label={`${metric.label} by block size and mix`}
        corner="Block size"
        headers={mixesOf(results).map(mixText)}
        rows={blocksOf(results).map((block) => ({
          name: blockText(block),
          cells: mixesOf(results).map((mix) => cellText(results, mix, block, metric)),
        }))}
      />
    </Card>
  );
}
