// Latency distribution of a finished run: histogram, percentile curve and percentile table.
import { lazy, Suspense, useMemo } from 'react';
import type { Report } from '../../api';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { latencyTable } from '../../model/run/latency-table';
import { DIRECTION_LABELS } from '../../model/run/summary';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

const LatencyCharts = lazy(() => import('../../charts/latency-charts'));

export function Latency({ live: { fold, chartGroup } }: { live: LiveRun }) {
  const report = useLiveValue(chartGroup, () => fold.result?.report);
  if (!report || report.read.ios + report.write.ios + report.trim.ios === 0) return null;
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
const DIRECTIONS = ['read', 'write', 'trim'] as const;

function LatencyDistributions({ report }: { report: Report }) {
  const distributions = useMemo(() => {
    const used = DIRECTIONS.filter((name) => report[name].ios > 0);
    return used.map((name, index) => ({
      label: DIRECTION_LABELS[name],
      buckets: report[name].lat_ns.buckets,
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
  const { heads, rows } = useMemo(() => latencyTable(report), [report]);
  return (
    <Card title="Latency by percentile">
      <NamedRows
        label="Latency by percentile"
        corner="Percentile"
        heads={heads}
        rows={rows.map(([name, cells]) => ({ name, cells }))}
      />
    </Card>
  );
}
