// A series' metric over time: each group's median with its confidence interval, host
// changes, change points and the baseline. Groups are equally spaced. Arrow keys select a group.
import { useElementSize } from '@mantine/hooks';
import type { KeyboardEvent, PointerEvent } from 'react';
import type { Trend, TrendPoint } from '../api';
import { formatValue } from '../model/compare/metrics';
import { shortDate, shortDateTime } from '../model/format/time';
import { labelIndices, linePath, ticks } from '../model/trend/geometry';
import { pointText } from '../model/trend/text';
import { BaselineBand, Changes, HostMarks, Levels } from './trend-marks';
import {
  HEIGHT,
  MARGIN_BOTTOM,
  MARGIN_LEFT,
  MARGIN_RIGHT,
  MARGIN_TOP,
  type PlotProps,
  type PointsProps,
  scales,
} from './trend-plot';
import './trend-chart.css';

/**
 * Minimum distance between groups, in pixels, for drawing whiskers. If groups are closer together,
 * their intervals are drawn as a band.
 */
const MIN_WHISKER = 9;
const LABEL_WIDTH = 92;
interface TrendChartProps {
  trend: Trend;
  title: string;
  /** Index of the first point to show. */
  first: number;
  /** Index of the selected point among all points, including hidden ones. */
  selected: number;
  onSelect: (index: number) => void;
  /** Called with null when the pointer leaves the chart. */
  onHover: (index: number | null) => void;
  hovered: number | null;
}

export function TrendChart(props: TrendChartProps) {
  const { trend, title, first, selected, onSelect, onHover } = props;
  const { ref, width } = useElementSize();
  const points = trend.points.slice(first);
  const last = trend.points.length - 1;
  const plot = scales(trend, points, width || 800);
  const indexAt = ({ clientX, currentTarget }: PointerEvent) => {
    const x = clientX - currentTarget.getBoundingClientRect().left;
    const index = Math.round((x - plot.x(0)) / plot.step);
    return first + Math.min(points.length - 1, Math.max(0, index));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = KEY_TARGETS[event.key]?.(selected, first, last);
    if (target === undefined) return;
    event.preventDefault();
    onSelect(Math.min(last, Math.max(first, target)));
  };
  const current = trend.points[selected];
  return (
    <div
      ref={ref}
      className="trend-chart"
      role="slider"
      tabIndex={0}
      aria-label={`${title}: group`}
      aria-valuemin={first + 1}
      aria-valuemax={last + 1}
      aria-valuenow={selected + 1}
      aria-valuetext={current && pointText(current, trend)}
      onKeyDown={onKeyDown}
      onPointerMove={(event) => onHover(indexAt(event))}
      onPointerLeave={() => onHover(null)}
      onClick={(event) => onSelect(indexAt(event as unknown as PointerEvent))}
    >
      <svg aria-hidden viewBox={`0 0 ${plot.width} ${HEIGHT}`} width={plot.width} height={HEIGHT}>
        <Axes trend={trend} points={points} plot={plot} />
        <BaselineBand trend={trend} plot={plot} />
        <HostMarks points={points} plot={plot} />
        <Levels trend={trend} first={first} count={points.length} plot={plot} />
        <Series points={points} plot={plot} />
        <Changes trend={trend} first={first} plot={plot} />
        <Cursor {...props} plot={plot} />
      </svg>
    </div>
  );
}

const KEY_TARGETS: Record<string, (selected: number, first: number, last: number) => number> = {
  ArrowLeft: (selected) => selected - 1,
  ArrowDown: (selected) => selected - 1,
  ArrowRight: (selected) => selected + 1,
  ArrowUp: (selected) => selected + 1,
  PageDown: (selected) => selected - 10,
  PageUp: (selected) => selected + 10,
  Home: (_, first) => first,
  End: (_, __, last) => last,
};

function Axes({ trend, points, plot }: PointsProps & { trend: Trend }) {
  const isOneDay = new Set(points.map((point) => shortDate(point.started_at_ms))).size === 1;
  const label = (ms: number | undefined) => (isOneDay ? shortDateTime(ms, ms) : shortDate(ms));
  const fitting = Math.floor((plot.width - MARGIN_LEFT - MARGIN_RIGHT) / LABEL_WIDTH);
  return (
    <>
      {ticks(plot).map((value) => (
        <g key={value}>
          <path
            className="grid"
            d={`M${MARGIN_LEFT} ${plot.y(value)}H${plot.width - MARGIN_RIGHT}`}
          />
          <text x={MARGIN_LEFT - 8} y={plot.y(value) + 4} textAnchor="end">
            {formatValue(value, trend.unit)}
          </text>
        </g>
      ))}
      {labelIndices(points.length, fitting).map((index) => {
        const x = Math.min(plot.x(index), plot.width - MARGIN_RIGHT - LABEL_WIDTH / 2 + 18);
        return (
          <text key={index} x={x} y={HEIGHT - 8} textAnchor="middle">
            {label(points[index]?.started_at_ms)}
          </text>
        );
      })}
    </>
  );
}

function Series({ points, plot }: PointsProps) {
  const isDense = plot.step < MIN_WHISKER;
  const at = (value: number | null | undefined, index: number) =>
    value == null ? null : ([plot.x(index), plot.y(value)] as const);
  const medians = points.map(({ statistics }, index) => at(statistics.median, index));
  const radius = isDense ? Math.max(1, plot.step / 3.4) : 4;
  return (
    <>
      {isDense && <IntervalBand points={points} plot={plot} />}
      <path className="line" d={linePath(medians)} />
      {points.map((point, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: points are ordered by their runs
        <g key={index}>
          {!isDense && <Whisker point={point} x={plot.x(index)} plot={plot} />}
          <ExcludedRuns
            point={point}
            x={plot.x(index)}
            plot={plot}
            radius={Math.min(3.5, radius + 1)}
          />
          {medians[index] && (
            <circle className="point" cx={medians[index][0]} cy={medians[index][1]} r={radius} />
          )}
        </g>
      ))}
    </>
  );
}

function IntervalBand({ points, plot }: PointsProps) {
  const bound = (side: 'low' | 'high') =>
    points.flatMap(({ statistics: { interval, median } }, index) => {
      const value = interval?.[side] ?? median;
      return value == null ? [] : [[plot.x(index), plot.y(value)] as const];
    });
  const outline = [...bound('low'), ...bound('high').toReversed()];
  return outline.length > 0 && <path className="interval-band" d={`${linePath(outline)}Z`} />;
}

interface PointProps extends PlotProps {
  point: TrendPoint;
  x: number;
}

function Whisker({ point: { statistics }, x, plot }: PointProps) {
  const { interval } = statistics;
  if (!interval) return null;
  const [low, high] = [plot.y(interval.low), plot.y(interval.high)];
  const half = Math.min(5, plot.step / 3);
  return (
    <path
      className="whisker"
      d={`M${x} ${low}V${high}M${x - half} ${low}h${2 * half}M${x - half} ${high}h${2 * half}`}
    />
  );
}

/**
 * Excluded runs: a ring at the value of each disturbed run, and one tick on the axis if any run is
 * incomplete or damaged.
 */
function ExcludedRuns({ point, x, plot, radius }: PointProps & { radius: number }) {
  const isIncomplete = point.excluded.some(
    ({ kind }) => kind === 'incomplete' || kind === 'damaged',
  );
  const values = point.excluded.flatMap(({ kind, value, run }) =>
    kind === 'disturbed' && value != null ? [{ run, value }] : [],
  );
  return (
    <>
      {values.map(({ run, value }) => (
        <circle key={run} className="apart" cx={x} cy={plot.y(value)} r={radius} />
      ))}
      {isIncomplete && <path className="incomplete" d={`M${x} ${HEIGHT - MARGIN_BOTTOM}v5`} />}
    </>
  );
}

function Cursor({ trend, first, selected, hovered, plot }: TrendChartProps & PlotProps) {
  const marks = [
    { index: hovered, name: 'hovered' },
    { index: selected, name: 'selected' },
  ];
  return marks.map(({ index, name }) => {
    if (index === null || index < first) return null;
    const x = plot.x(index - first);
    const median = trend.points[index]?.statistics.median;
    return (
      <g key={name} className={`cursor ${name}`}>
        <path d={`M${x} ${MARGIN_TOP - 4}V${HEIGHT - MARGIN_BOTTOM}`} />
        {median != null && <circle cx={x} cy={plot.y(median)} r={6.5} />}
      </g>
    );
  });
}
