// Sweep charts: a metric over the values of one option, with confidence intervals, and latency
// over IOPS. Lazy-loaded with Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import type { ChartData, ChartOptions } from 'chart.js';
import type { StepStatistics } from '../api';
import { latency, rate, shortCount, text } from '../model/format/numbers';
import { dashPattern, lineStyle } from '../model/series/line-style';
import { type SweepAxis, type SweepLine, type SweepMetric, sweepLines } from '../model/study/sweep';
import { BINARY_AXIS } from './byte-axis';
import { categoryOptions, token, valueAxis, withAlpha } from './chart-js';
import { PlotCard } from './plot-card';

const TITLES: Record<SweepMetric, string> = {
  iops: 'IOPS',
  bytes_per_second: 'Bandwidth',
  lat_p99_ns: 'p99 latency',
};
const FORMATS: Record<SweepMetric, (value: number) => string> = {
  iops: (value) => text(shortCount(value)),
  bytes_per_second: (value) => text(rate(value)),
  lat_p99_ns: (value) => text(latency(value)),
};

interface SweepChartsProps {
  results: readonly StepStatistics[];
  axis: SweepAxis;
}

export default function SweepCharts({ results, axis }: SweepChartsProps) {
  const scheme = useComputedColorScheme();
  return (
    <div className="charts two-by-two" key={scheme}>
      <SweepChart metric="iops" results={results} axis={axis} />
      <SweepChart metric="lat_p99_ns" results={results} axis={axis} />
      <SweepChart metric="bytes_per_second" results={results} axis={axis} />
      <LoadLatencyChart results={results} axis={axis} />
    </div>
  );
}

function SweepChart({ metric, results, axis }: SweepChartsProps & { metric: SweepMetric }) {
  const lines = sweepLines(results, axis, metric);
  const data: ChartData<'line', (number | null)[], string> = {
    labels: axis.values,
    datasets: lines.flatMap((line, index) => datasets(line, index)),
  };
  const title = `${TITLES[metric]} by ${axis.option}${isLog(metric) ? ' (log)' : ''}`;
  return <PlotCard title={title} data={data} options={options(metric)} legend={legendOf(lines)} />;
}

const legendOf = (lines: readonly SweepLine[]) =>
  lines.length > 1 ? lines.map(({ label }, index) => ({ label, ...lineStyle(index) })) : [];

/** The line through the medians. It is drawn on top of the interval band. */
function datasets({ label, points }: SweepLine, index: number) {
  const { color, dash } = lineStyle(index);
  const bound = (side: 'low' | 'high') =>
    points.map((point) => point?.interval?.[side] ?? point?.median ?? null);
  const band = { borderWidth: 0, pointRadius: 0, backgroundColor: withAlpha(color, 0.15) };
  return [
    {
      label,
      data: points.map((point) => point?.median ?? null),
      borderColor: token(color),
      backgroundColor: token(color),
      borderDash: dashPattern(dash),
      pointRadius: 3,
      spanGaps: true,
    },
    { ...band, label: `${label} low`, data: bound('low') },
    { ...band, label: `${label} high`, data: bound('high'), fill: '-1' as const },
  ];
}

const isLog = (metric: SweepMetric) => metric === 'lat_p99_ns';

const options = (metric: SweepMetric): ChartOptions<'line'> =>
  categoryOptions({
    ...valueAxis(isLog(metric) ? 'log' : 'linear', FORMATS[metric]),
    ...(metric === 'bytes_per_second' && BINARY_AXIS),
  });

function LoadLatencyChart({ results, axis }: SweepChartsProps) {
  const iops = sweepLines(results, axis, 'iops');
  const p99 = sweepLines(results, axis, 'lat_p99_ns');
  const data: ChartData<'line', { x: number; y: number }[]> = {
    datasets: iops.map(({ label, points }, index) => {
      const { color, dash } = lineStyle(index);
      return {
        label,
        data: points.flatMap((point, position) => {
          const [x, y] = [point?.median, p99[index]?.points[position]?.median];
          return x == null || y == null ? [] : [{ x, y }];
        }),
        borderColor: token(color),
        backgroundColor: token(color),
        borderDash: dashPattern(dash),
        pointRadius: 3,
      };
    }),
  };
  const base = options('lat_p99_ns');
  const x = { ...valueAxis('linear', FORMATS.iops), afterFit: undefined };
  return (
    <PlotCard
      title="p99 latency vs. IOPS (log)"
      data={data}
      options={{ ...base, scales: { ...base.scales, x: x as object } }}
      legend={legendOf(iops)}
    />
  );
}
