// A finished run's latency distribution: histogram, percentile curve and percentile table.
import { lazy, Suspense, useMemo } from 'react';
import type { Report } from '../../api';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { latencyTable } from '../../model/run/latency-table';
import {
  DIRECTIONS,
  isUsed,
  reportedText,
  toBuckets,
  unfinishedText,
} from '../../model/run/reported-latency';
import { DIRECTION_LABELS } from '../../model/run/summary';
import { MaybeLowerBound } from '../../ui/lower-bound';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

const LatencyCharts = lazy(() => import('../../charts/latency-charts'));

export function Latency({ live: { fold, chartGroup } }: { live: LiveRun }) {
  const report = useLiveValue(chartGroup, () => fold.result?.report);
  if (!report || DIRECTIONS.every((name) => !isUsed(report[name]))) return null;
  return (
    <>
      <Suspense fallback={<div style={{ minHeight: 220 }} />}>
        <LatencyDistributions report={report} />
      </Suspense>
      <PercentileTable report={report} />
    </>
  );
}

const COLORS = { read: 'app', write: 'cache', trim: 'block' } as const;

function LatencyDistributions({ report }: { report: Report }) {
  const distributions = useMemo(() => {
    const used = DIRECTIONS.filter((name) => isUsed(report[name]));
    return used.map((name, index) => ({
      label: DIRECTION_LABELS[name],
      buckets: toBuckets(report[name]),
      color: COLORS[name],
      dash: index > 0 ? ('dashed' as const) : undefined,
    }));
  }, [report]);
  return (
    <LatencyCharts
      distributions={distributions}
      title="Latency"
      tableHint="same data in the table “Latency by percentile”"
    />
  );
}

function PercentileTable({ report }: { report: Report }) {
  const { headers, rows } = useMemo(() => latencyTable(report), [report]);
  const unfinished = unfinishedText(report);
  return (
    <Card title="Latency by percentile">
      <NamedRows
        label="Latency by percentile"
        corner="Percentile"
        headers={headers}
        rows={rows.map(([name, values]) => ({
          name,
          cells: values.map((value, index) => (
            <MaybeLowerBound key={headers[index]} {...value} text={reportedText(value)} />
          )),
        }))}
      />
      {unfinished && <p className="mute small">{unfinished}</p>}
    </Card>
  );
}
