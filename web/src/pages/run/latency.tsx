// How the latencies spread: histogram, percentile curve and the table of percentiles. Of the report when there is one;
// while the run goes on, the charts over time say enough.
import { lazy, Suspense, useMemo } from 'react';
import type { Report, Run } from '../../api';
import { type Live, useLiveValue } from '../../charts/use-live';
import { latencyTable } from '../../model/run/latency-table';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

const LatencyCharts = lazy(() => import('../../charts/latency-charts'));

/** The latencies of a finished run. */
export function Latency({ live: { fold, chartGroup } }: { run: Run; live: Live }) {
  const report = useLiveValue(chartGroup, () => fold.result?.report);
  return report && report.read.ios + report.write.ios + report.trim.ios > 0 ? (
    <Latencies report={report} />
  ) : null;
}

function Latencies({ report }: { report: Report }) {
  const of = useMemo(() => {
    const colors = { read: 'app', write: 'cache', trim: 'block' } as const;
    const used = (['read', 'write', 'trim'] as const).filter((name) => report[name].ios > 0);
    return used.map((name, i) => ({
      label: `${name}s`,
      buckets: report[name].lat_ns.buckets,
      color: colors[name],
      dash: i > 0 ? ('dashed' as const) : undefined,
    }));
  }, [report]);
  return (
    <>
      <Suspense fallback={<div style={{ minHeight: 220 }} />}>
        <LatencyCharts
          of={of}
          title="Latency"
          elsewhere="the table “Latency by percentile” says the same"
        />
      </Suspense>
      <PercentileTable report={report} />
    </>
  );
}

function PercentileTable({ report }: { report: Report }) {
  const { heads, rows } = useMemo(() => latencyTable(report), [report]);
  return (
    <Card title="Latency by percentile">
      <NamedRows
        label="Latency by percentile"
        corner="percentile"
        heads={heads}
        rows={rows.map(([name, cells]) => ({ key: name, name, cells }))}
      />
    </Card>
  );
}
