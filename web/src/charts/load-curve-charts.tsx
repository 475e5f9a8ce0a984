// Charts of a load–latency curve: latency percentiles against achieved IOPS, and achieved against
// offered IOPS. Lazy-loaded with Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import type { ChartData, ChartOptions } from 'chart.js';
import type { LoadCurveResults } from '../api';
import { formatValue } from '../model/compare/metrics';
import { dashPattern, lineStyle } from '../model/series/line-style';
import {
  achievedPoints,
  CURVE_LATENCIES,
  earlyPoints,
  latencyLine,
} from '../model/study/load-curve';
import { COMMON, token, valueAxis } from './chart-js';
import { PlotCard } from './plot-card';

type XY = { x: number; y: number };

export default function LoadCurveCharts({ results }: { results: LoadCurveResults }) {
  const scheme = useComputedColorScheme();
  return (
    <div className="charts two-by-two" key={scheme}>
      {latencyLine(results, 'lat_p50_ns').length > 0 && <LatencyChart results={results} />}
      <AchievedChart results={results} />
    </div>
  );
}

const dataset = (label: string, data: XY[], index: number, isLine = true) => {
  const { color, dash } = lineStyle(index);
  return {
    label,
    data,
    borderColor: token(color),
    backgroundColor: token(color),
    borderDash: dashPattern(dash),
    borderWidth: isLine ? 2 : 0,
    pointRadius: isLine ? 3 : 4,
  };
};

/** The bracket of the saturation point. */
function bracket({ saturation, upper }: LoadCurveResults) {
  if (saturation == null || upper == null) return {};
  return {
    saturation: {
      type: 'box' as const,
      xMin: saturation,
      xMax: upper,
      backgroundColor: `color-mix(in srgb, ${token('bad')} 18%, transparent)`,
      borderWidth: 0,
    },
  };
}

function LatencyChart({ results }: { results: LoadCurveResults }) {
  const data: ChartData<'line', XY[]> = {
    datasets: CURVE_LATENCIES.map(({ name, label }, index) =>
      dataset(label, latencyLine(results, name), index),
    ),
  };
  const title = 'Latency from the intended start by achieved IOPS';
  return (
    <PlotCard
      title={title}
      data={data}
      options={options({ ...valueAxis('log', (ns) => formatValue(ns, 'ns')) }, bracket(results))}
      legend={CURVE_LATENCIES.map(({ label }, index) => ({ label, ...lineStyle(index) }))}
    />
  );
}

function AchievedChart({ results }: { results: LoadCurveResults }) {
  const all = achievedPoints(results, 'sustained', 'uncertain', 'overloaded');
  const most = Math.max(0, ...results.points.map(({ offered }) => offered));
  const equal = [
    { x: 0, y: 0 },
    { x: most, y: most },
  ];
  const early = earlyPoints(results);
  const labels = ['Achieved', 'Achieved = offered', 'Overloaded', 'Disturbed'];
  const styles = [0, 2, 1, 2];
  const legend = labels.map((label, index) => ({ label, ...lineStyle(styles[index] ?? 0) }));
  const data: ChartData<'line', XY[]> = {
    datasets: [
      dataset(labels[0] ?? '', all, 0),
      { ...dataset(labels[1] ?? '', equal, 2), pointRadius: 0 },
      dataset(labels[2] ?? '', achievedPoints(results, 'overloaded'), 1, false),
      dataset(labels[3] ?? '', achievedPoints(results, 'disturbed'), 2, false),
      { ...dataset(EARLY.label, early, 1, false), ...EARLY_POINT },
    ],
  };
  const title = 'Achieved by offered IOPS';
  return (
    <PlotCard
      title={title}
      data={data}
      options={options(valueAxis('linear', iops), bracket(results))}
      legend={early.length > 0 ? [...legend, EARLY] : legend}
    />
  );
}

/** A cross on the point of an overloaded rate. */
const EARLY_POINT = { pointStyle: 'crossRot', pointRadius: 9, pointBorderWidth: 2 } as const;
const EARLY = { label: '× ended early, because the backlog grew', ...lineStyle(1) };

const iops = (value: number) => formatValue(value, '1/s');

function options(y: object, annotations: object): ChartOptions<'line'> {
  const x = { ...valueAxis('linear', iops), afterFit: undefined };
  return {
    ...COMMON,
    parsing: undefined,
    plugins: {
      annotation: { annotations },
      zoom: { zoom: { drag: { enabled: false } }, pan: { enabled: false } },
    },
    scales: { x: x as object, y },
  };
}
