// Charts for a load–latency curve: latency percentiles over achieved IOPS, and achieved IOPS over
// offered IOPS. Lazy-loaded with Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import type { ChartData, ChartOptions } from 'chart.js';
import type { LoadCurveResults } from '../api';
import { formatValue } from '../model/compare/metrics';
import { dashPattern, isCross, lineStyle, type PointMark } from '../model/series/line-style';
import {
  achievedLine,
  achievedPoints,
  CURVE_LATENCIES,
  earlyPoints,
  latencyLine,
  latencyPoints,
} from '../model/study/load-curve';
import { useOnDemand } from '../ui/on-demand';
import { COMMON, token, valueAxis } from './chart-js';
import { PlotCard } from './plot-card';
import { annotations } from './plugins';

type XY = { x: number; y: number };

export default function LoadCurveCharts({ results }: { results: LoadCurveResults }) {
  const scheme = useComputedColorScheme();
  useOnDemand(annotations, results.saturation != null);
  return (
    <div className="charts two-by-two" key={scheme}>
      {latencyLine(results, 'lat_p50_ns').length > 0 && <LatencyChart results={results} />}
      <AchievedChart results={results} />
    </div>
  );
}

const lineOf = (label: string, data: XY[], index: number) => {
  const { color, dash } = lineStyle(index);
  return {
    label,
    data,
    borderColor: token(color),
    backgroundColor: token(color),
    borderDash: dashPattern(dash),
    borderWidth: 2,
    pointRadius: 0,
  };
};

/** The range that contains the saturation point. */
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
    // A point for each run. The lines connect the medians of each rate's runs.
    datasets: [
      ...CURVE_LATENCIES.map(({ name, label }, index) =>
        lineOf(label, latencyLine(results, name), index),
      ),
      ...CURVE_LATENCIES.map(({ name, label }, index) => ({
        ...lineOf(`${label} runs`, latencyPoints(results, name), index),
        showLine: false,
        pointRadius: 3,
      })),
    ],
  };
  const title = 'Latency from the intended start vs. achieved IOPS (log)';
  return (
    <PlotCard
      title={title}
      data={data}
      options={options({ ...valueAxis('log', (ns) => formatValue(ns, 'ns')) }, bracket(results))}
      legend={CURVE_LATENCIES.map(({ label }, index) => ({ label, ...lineStyle(index) }))}
    />
  );
}

/** Classes have different shapes, so that they are distinguishable without color. */
const CLASS_POINTS = [
  { name: 'sustained', label: 'Sustained', color: 'run-ink', point: 'circle' },
  { name: 'overloaded', label: 'Overloaded', color: 'run-rose', point: 'triangle' },
  { name: 'uncertain', label: 'Too short', color: 'run-gray', point: 'rect' },
  { name: 'disturbed', label: 'Disturbed', color: 'run-gray', point: 'rectRot' },
  { name: 'inconsistent', label: 'Inconsistent', color: 'run-gray', point: 'cross' },
] as const;

/** A cross on top of the points of overloaded rates. */
const EARLY = {
  label: 'Ended early because the backlog grew',
  color: 'run-rose',
  point: 'crossRot',
} as const;

interface PointStyle {
  label: string;
  color: string;
  point: PointMark;
}

/** A dataset that shows points without a line. */
const pointsOf = ({ label, color, point }: PointStyle, data: XY[]) => ({
  label,
  data,
  showLine: false,
  pointStyle: point,
  pointRadius: point === 'crossRot' ? 9 : 5,
  pointBorderWidth: isCross(point) ? 2 : 1,
  borderColor: token(color),
  backgroundColor: token(color),
});

const EQUAL = { label: 'Achieved = offered', color: 'run-gray', dash: 'dotted' } as const;

function AchievedChart({ results }: { results: LoadCurveResults }) {
  const line = achievedLine(results, 'sustained', 'uncertain', 'overloaded');
  const most = Math.max(0, ...results.points.map(({ offered }) => offered));
  const equal = [
    { x: 0, y: 0 },
    { x: most, y: most },
  ];
  const classes = [
    ...CLASS_POINTS.map((style) => ({ style, points: achievedPoints(results, style.name) })),
    { style: EARLY, points: earlyPoints(results) },
  ].filter(({ points }) => points.length > 0);
  const thin = { borderDash: [], borderWidth: 1.6, pointRadius: 0 };
  const data: ChartData<'line', XY[]> = {
    // The first datasets are drawn on top.
    datasets: [
      ...classes.map(({ style, points }) => pointsOf(style, points)).reverse(),
      { ...thin, label: 'Achieved', data: line, borderColor: token('run-ink') },
      {
        ...thin,
        label: EQUAL.label,
        data: equal,
        borderColor: token(EQUAL.color),
        borderDash: dashPattern(EQUAL.dash),
      },
    ],
  };
  return (
    <PlotCard
      title="Achieved vs. offered IOPS"
      data={data}
      options={options(valueAxis('linear', iops), bracket(results))}
      legend={[...classes.map(({ style }) => style), EQUAL]}
    />
  );
}

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
