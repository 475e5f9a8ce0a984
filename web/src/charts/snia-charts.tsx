// Plots of an SNIA test, titled as in the specification. Lazy-loaded with Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import type { ChartData, ChartOptions } from 'chart.js';
import type { SniaResults, TrackingVariable } from '../api';
import { formatValue } from '../model/compare/metrics';
import { dashPattern, lineStyle } from '../model/series/line-style';
import {
  blocksOf,
  blockText,
  convergence,
  mixLines,
  SNIA_METRICS,
  type SniaLine,
} from '../model/study/snia';
import { categoryOptions, token, valueAxis } from './chart-js';
import { PlotCard } from './plot-card';

export default function SniaCharts({ results }: { results: SniaResults }) {
  const scheme = useComputedColorScheme();
  const [metric] = SNIA_METRICS[results.test];
  if (!metric) return null;
  const { label, unit } = metric;
  const rounds = results.rounds.map(({ round }) => String(round));
  const blocks = blocksOf(results).toSorted((a, b) => a - b);
  const hasCells = results.cells.some(({ value }) => value);
  return (
    <div className="charts two-by-two" key={scheme}>
      <LinesChart
        title={`${label} steady state convergence, writes by round`}
        labels={rounds}
        lines={convergence(results, metric)}
        unit={unit}
      />
      {results.tracking.map((variable) => (
        <WindowChart
          key={variable.name}
          variable={variable}
          results={results}
          unit={results.test === 'latency' ? 'ns' : unit}
        />
      ))}
      {hasCells && blocks.length > 1 && (
        <LinesChart
          title={`${label}, all R/W mixes and block sizes`}
          labels={blocks.map(blockText)}
          lines={mixLines(results, metric)}
          unit={unit}
        />
      )}
    </div>
  );
}

interface LinesChartProps {
  title: string;
  labels: string[];
  lines: SniaLine[];
  unit: string;
}

function LinesChart({ title, labels, lines, unit }: LinesChartProps) {
  const data: ChartData<'line', (number | null)[], string> = {
    labels,
    datasets: lines.map(({ label, values }, index) => {
      const { color, dash } = lineStyle(index);
      return {
        label,
        data: values,
        borderColor: token(color),
        backgroundColor: token(color),
        borderDash: dashPattern(dash),
        pointRadius: 3,
      };
    }),
  };
  const legend = lines.map(({ label }, index) => ({ label, ...lineStyle(index) }));
  return (
    <PlotCard
      title={title}
      data={data}
      options={options('log', unit)}
      legend={lines.length > 1 ? legend : []}
    />
  );
}

interface WindowChartProps {
  variable: TrackingVariable;
  results: SniaResults;
  unit: string;
}

const WINDOW_STYLES = [
  { label: 'value', color: 'run-ink' },
  { label: 'average', color: 'run-gray', dash: 'dashed' as const },
  { label: '±10 %', color: 'run-gray', dash: 'dotted' as const },
  { label: 'slope', color: 'run-rose', dash: 'dash-dot' as const },
];

/**
 * Steady state measurement window: values, their average, 110 % and 90 % of the average, and the
 * linear fit.
 */
function WindowChart({ variable: { name, values, window }, results, unit }: WindowChartProps) {
  const range = results.window;
  if (!window || !range) return null;
  const rounds = results.rounds
    .map(({ round }) => round)
    .filter((round) => round >= range.first && round <= range.last);
  const dataset = (style: number, data: (number | null)[], label = WINDOW_STYLES[style]?.label) => {
    const { color, dash } = WINDOW_STYLES[style] ?? { color: 'run-ink', dash: undefined };
    const radius = style === 0 ? 3 : 0;
    return {
      label,
      data,
      borderColor: token(color),
      backgroundColor: token(color),
      borderDash: dashPattern(dash),
      pointRadius: radius,
    };
  };
  const constant = (value: number) => rounds.map(() => value);
  const data: ChartData<'line', (number | null)[], string> = {
    labels: rounds.map(String),
    datasets: [
      dataset(
        0,
        rounds.map((round) => values[round - 1] ?? null),
      ),
      dataset(1, constant(window.average)),
      dataset(2, constant(window.average * 1.1), '110 %'),
      dataset(2, constant(window.average * 0.9), '90 %'),
      dataset(
        3,
        rounds.map((round) => window.slope * round + window.intercept),
      ),
    ],
  };
  const title = `Steady state measurement window: ${name}`;
  return (
    <PlotCard title={title} data={data} options={options('window', unit)} legend={WINDOW_STYLES} />
  );
}

function options(scale: 'log' | 'window', unit: string): ChartOptions<'line'> {
  const label = (value: number) => formatValue(value, unit);
  const axis = valueAxis(scale === 'log' ? 'log' : 'linear', label);
  return categoryOptions({ ...axis, ...(scale === 'window' && { beginAtZero: false }) });
}
