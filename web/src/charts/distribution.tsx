// Latency distributions: a histogram with bars of equal width on a logarithmic axis, and percentile
// curves on a logarithmic percentile axis (90, 99, 99.9 %), which expands the tail.
import type { Chart, ChartData, ChartOptions } from 'chart.js';
import { useMemo, useRef } from 'react';
import { Bar } from 'react-chartjs-2';
import type { BandPoint } from '../model/compare/curve-band';
import { count, latency, text } from '../model/format/numbers';
import { type Buckets, bars, curve, totalCount } from '../model/series/histogram';
import { dashPattern, type LineStyle } from '../model/series/line-style';
import { chartImage } from './chart-export';
import { COMMON, token, valueAxis, withAlpha } from './chart-js';
import { ChartMenu } from './chart-menu';
import { PlotCard } from './plot-card';

const formatLatency = (ns: number | null) => text(latency(ns));

export interface Distribution extends LineStyle {
  label: string;
  buckets: Buckets;
  /** Range of the group's runs at each point of the curve. */
  band?: readonly BandPoint[];
}

interface ChartProps {
  title: string;
  /** Points screen readers to the table with the same numbers. */
  tableHint?: string;
}

const labelSuffix = (tableHint: string | undefined) => (tableHint ? `; ${tableHint}` : '');

export function HistogramChart({ title, of, tableHint }: ChartProps & { of: Distribution }) {
  const drawn = useMemo(() => bars(of.buckets), [of]);
  const chart = useRef<Chart<'bar', number[], string>>(null);
  const data: ChartData<'bar', number[], string> = {
    labels: drawn.map((bar) => formatLatency(bar.low_ns)),
    datasets: [
      {
        data: drawn.map((bar) => bar.share * 100),
        backgroundColor: token(of.color),
        categoryPercentage: 1,
        barPercentage: 0.92,
      },
    ],
  };
  return (
    <section className="card chart">
      <h2>
        {title}
        <ChartMenu
          title={title}
          image={() => chart.current && chartImage(chart.current, title, [])}
        />
      </h2>
      <div className="canvas">
        <Bar
          ref={chart}
          data={data}
          options={histogramOptions(drawn.length)}
          role="img"
          aria-label={`${title}: ${count(totalCount(of.buckets))} latencies${labelSuffix(tableHint)}`}
        />
      </div>
    </section>
  );
}

function histogramOptions(length: number): ChartOptions<'bar'> {
  const { responsive, maintainAspectRatio, layout } = COMMON;
  return {
    responsive,
    maintainAspectRatio,
    layout,
    scales: {
      x: {
        type: 'category',
        grid: { display: false },
        ticks: { color: token('mute'), maxRotation: 0, maxTicksLimit: Math.min(8, length) },
        border: { color: token('line') },
      },
      y: valueAxis('linear', (value) => `${value} %`) as object,
    },
  };
}

const NINES = [
  [0, '0'],
  [-Math.log10(0.5), 'p50'],
  [1, 'p90'],
  [2, 'p99'],
  [3, 'p99.9'],
  [4, 'p99.99'],
  [5, 'p99.999'],
  [6, 'p99.9999'],
] as const;

export function PercentileChart({
  title,
  of,
  tableHint,
}: ChartProps & { of: readonly Distribution[] }) {
  const data = useMemo(() => toChartData(of), [of]);
  const maxNines = Math.max(2, ...data.datasets.map((set) => set.data.at(-1)?.x ?? 0));
  return (
    <PlotCard
      title={title}
      label={title + labelSuffix(tableHint)}
      data={data}
      options={curveOptions(maxNines)}
      legend={of.map(({ label, color, dash }) => ({ label, color, dash }))}
    />
  );
}

function toChartData(of: readonly Distribution[]): ChartData<'line', { x: number; y: number }[]> {
  const line = ({ label, buckets, color, dash }: Distribution) => ({
    label,
    data: curve(buckets).map(({ nines, ns }) => ({ x: nines, y: Math.max(1, ns) })),
    borderColor: token(color),
    borderDash: dashPattern(dash),
  });
  return { datasets: [...of.map(line), ...of.flatMap(bandOf)] };
}

/** A band's two edges. The area between them is filled. */
function bandOf({ label, color, band = [] }: Distribution) {
  if (band.length === 0) return [];
  const edge = (side: 'low_ns' | 'high_ns') => ({
    label: `${label} ${side}`,
    data: band.map((point) => ({ x: point.nines, y: Math.max(1, point[side]) })),
    borderWidth: 0,
    backgroundColor: withAlpha(color, 0.16),
    order: 1,
  });
  return [edge('low_ns'), { ...edge('high_ns'), fill: '-1' as const }];
}

function curveOptions(maxNines: number): ChartOptions<'line'> {
  return {
    ...COMMON,
    plugins: { zoom: { zoom: { drag: { enabled: false } }, pan: { enabled: false } } },
    scales: {
      x: {
        type: 'linear',
        min: 0,
        max: maxNines,
        grid: { color: token('line'), drawTicks: false },
        border: { color: token('line') },
        afterBuildTicks: (axis) => {
          axis.ticks = NINES.filter(([nines]) => nines <= maxNines).map(([value]) => ({ value }));
        },
        ticks: {
          color: token('mute'),
          maxRotation: 0,
          autoSkipPadding: 6,
          callback: (value) => NINES.find(([nines]) => nines === value)?.[1] ?? '',
        },
      },
      y: valueAxis('log', formatLatency) as object,
    },
  };
}
