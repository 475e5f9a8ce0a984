// Sweep results: a table over two axes, the knee, and charts.
import { Button, NativeSelect, NumberInput } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { StepStatistics, Study } from '../../api';
import { formatValue } from '../../model/compare/metrics';
import {
  axesOf,
  cellText,
  knee,
  longestAxis,
  repeatsText,
  type SweepAxis,
  type SweepMetric,
  spreadText,
  sweepCells,
  sweepCsv,
  sweepLines,
} from '../../model/study/sweep';
import { copyText } from '../../ui/clipboard';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

const SweepCharts = lazy(() => import('../../charts/sweep-charts'));

const METRICS: { value: SweepMetric; label: string; unit: string }[] = [
  { value: 'iops', label: 'IOPS', unit: '1/s' },
  { value: 'bytes_per_second', label: 'Bandwidth', unit: 'bytes/s' },
  { value: 'lat_p99_ns', label: 'p99 latency', unit: 'ns' },
];
const NS_PER_MS = 1e6;

/** Renders nothing if the study has no sweep. */
export function Sweep({ study: { steps, results: found } }: { study: Study }) {
  const axes = axesOf(steps);
  const results = sweepCells(steps, found);
  const axis = longestAxis(axes);
  if (!axis) return null;
  return (
    <>
      <SweepTable results={results} axis={axis} />
      {found.length > 0 && (
        <Suspense fallback={<div style={{ minHeight: 480 }} />}>
          <SweepCharts results={results} axis={axis} />
        </Suspense>
      )}
    </>
  );
}

function SweepTable({ results, axis }: { results: readonly StepStatistics[]; axis: SweepAxis }) {
  const [metric, setMetric] = useState<SweepMetric>('iops');
  const unit = METRICS.find(({ value }) => value === metric)?.unit ?? '1';
  const lines = sweepLines(results, axis, metric);
  const medians = results.flatMap((result) => result[metric].median ?? []);
  const [least, most] = [Math.min(...medians), Math.max(...medians)];
  return (
    <Card
      title="Sweep"
      aside={
        <>
          <NativeSelect
            aria-label="Metric"
            value={metric}
            onChange={({ currentTarget }) => setMetric(currentTarget.value as SweepMetric)}
            data={METRICS.map(({ value, label }) => ({ value, label }))}
          />
          <Button onClick={() => void copyText('Table', sweepCsv(results))}>Copy as CSV</Button>
        </>
      }
    >
      <NamedRows
        className="sweep"
        label="Sweep medians"
        corner={axis.option}
        headers={axis.values}
        rows={lines.map(({ label, points }) => ({
          key: label,
          name: label || 'all',
          cells: points.map((point, index) => (
            <HeatCell
              key={axis.values[index]}
              text={formatValue(point?.median ?? null, unit)}
              spread={spreadText(point)}
              share={point?.median == null ? 0 : (point.median - least) / (most - least || 1)}
            />
          )),
        }))}
      />
      <p className="mute small">{repeatsText(results)}</p>
      <Knee results={results} />
    </Card>
  );
}

interface HeatCellProps {
  text: string;
  /** Empty if each cell has a single run. */
  spread: string;
  share: number;
}

const HeatCell = ({ text, spread, share }: HeatCellProps) => (
  <span
    className="heat"
    style={{ background: `color-mix(in srgb, var(--app) ${Math.round(share * 35)}%, transparent)` }}
  >
    {text}
    {spread && <span className="small"> {spread}</span>}
  </span>
);

function Knee({ results }: { results: readonly StepStatistics[] }) {
  const [limit_ms, setLimit] = useState(1);
  const best = knee(results, limit_ms * NS_PER_MS);
  return (
    <div className="row knee">
      <NumberInput
        label="p99 limit (ms)"
        w={120}
        min={0.001}
        step={0.5}
        value={limit_ms}
        onChange={(value) => setLimit(Number(value) || 0)}
      />
      <p>
        {best ? (
          <>
            Highest IOPS with a p99 of at most {limit_ms} ms: <b>{cellText(best, results)}</b> (
            {formatValue(best.iops.median ?? null, '1/s')} IOPS, p99{' '}
            {formatValue(best.lat_p99_ns.median ?? null, 'ns')})
          </>
        ) : (
          <>No step has a p99 of at most {limit_ms} ms.</>
        )}
      </p>
    </div>
  );
}
