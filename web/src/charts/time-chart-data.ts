// The datasets of a time chart, and how they are updated at each redraw.
import type { Chart, ChartData } from 'chart.js';
import type { Band } from '../model/fold/missing-time';
import { type SeriesView, syncPoints, type XY } from '../model/fold/series-view';
import type { Mark } from '../model/run/marks';
import { dashPattern } from '../model/series/line-style';
import { bandAnnotations } from './bands';
import type { ChartGroup, Range } from './chart-group';
import { token, withAlpha } from './chart-js';
import { markAnnotations } from './marks';
import type { Panel, PanelLine } from './panels';
import { annotations } from './plugins';
import { thresholdAnnotations } from './time-chart-options';

/** A line and the series that it draws. */
export interface DrawnLine extends PanelLine {
  view: SeriesView;
  /** Value to show in the legend when there is no crosshair; by default, the last value. */
  whole?: () => number | null | undefined;
}

/** A Chart.js dataset: the mean of a line, or one edge of its min–max band. */
export interface Polyline {
  line: DrawnLine;
  statistic: 'mean' | 'min' | 'max';
  points: XY[];
}

export function toPolylines(lines: readonly DrawnLine[]): Polyline[] {
  const polyline = (line: DrawnLine, statistic: Polyline['statistic']): Polyline => ({
    line,
    statistic,
    points: [],
  });
  const banded = lines.filter(({ view }) => view.banded);
  return [
    ...lines.map((line) => polyline(line, 'mean')),
    ...banded.flatMap((line) => [polyline(line, 'min'), polyline(line, 'max')]),
  ];
}

export function dataOf(
  polylines: readonly Polyline[],
  hidden: ReadonlySet<string>,
  emphasized: string | null = null,
): ChartData<'line', XY[]> {
  const bands = polylines.filter((polyline) => hasEdges(polyline) && polyline.statistic === 'max');
  return {
    datasets: polylines.map((polyline) => ({
      ...toDataset(polyline, hidden),
      ...(bands.length > 0 && bandStyle(polyline, bands.length, emphasized)),
    })),
  };
}

/** Whether the band is the range of multiple runs. The edges of such bands are drawn. */
export const hasEdges = ({ line }: Polyline) => line.view.edges !== undefined;

/** Band opacities. Bands are fainter if there are many of them, because they overlap. */
const BAND = { few: 0.18, many: 0.09, emphasized: 0.34, faint: 0.03 };
const EDGE = { normal: 0.55, emphasized: 1, faint: 0.12 };
const FEW_BANDS = 3;
/** Opacity of all other lines while one line is emphasized. */
const FAINT_LINE = 0.25;

/** Band edges use the dash pattern of their line, because eight bands share three colors. */
function bandStyle({ line, statistic }: Polyline, bands: number, emphasized: string | null) {
  const { label, color, dash } = line;
  const state =
    emphasized === null ? 'normal' : emphasized === label ? 'emphasized' : ('faint' as const);
  if (statistic === 'mean') {
    return {
      borderWidth: state === 'emphasized' ? 2.6 : 2,
      borderColor: state === 'faint' ? withAlpha(color, FAINT_LINE) : token(color),
    };
  }
  const normal = bands <= FEW_BANDS ? BAND.few : BAND.many;
  return {
    borderWidth: 0.8,
    borderColor: withAlpha(color, EDGE[state]),
    borderDash: dashPattern(dash),
    backgroundColor: withAlpha(color, state === 'normal' ? normal : BAND[state]),
  };
}

function toDataset({ line, statistic, points }: Polyline, hidden: ReadonlySet<string>) {
  const { label, color, dash, thin, sparse } = line;
  const isMean = statistic === 'mean';
  return {
    label: `${label} ${statistic}`,
    data: points,
    hidden: hidden.has(label),
    borderColor: token(color),
    borderDash: dashPattern(dash),
    spanGaps: sparse ?? false,
    pointRadius: 0,
    borderWidth: isMean ? (thin ? 1 : 1.6) : 0,
    // Datasets with a lower order are drawn on top: dashed lines, then solid lines, then bands.
    order: isMean ? (dash ? 0 : 1) : 2,
    fill: statistic === 'max' ? '-1' : false,
    backgroundColor: withAlpha(color, 0.16),
  };
}

export function chartUpdater(
  polylines: readonly Polyline[],
  panel: Omit<Panel, 'lines'>,
  chartGroup: ChartGroup,
  fullRange: () => Range,
) {
  const generations = new Map<Polyline, string>();
  return (chart: Chart<'line', XY[]>, bands: readonly Band[], marks: readonly Mark[]) => {
    polylines.forEach((polyline, i) => {
      const { line, statistic, points } = polyline;
      if (generations.get(polyline) !== line.view.generation) points.length = 0;
      generations.set(polyline, line.view.generation);
      syncPoints(points, line.view, line.columns, statistic);
      const dataset = chart.data.datasets[i];
      if (!dataset) return;
      // A single point has no line, so it is drawn as a dot. This is a number, because Chart.js
      // would call a function for every point.
      const pointRadius = points.length === 1 && statistic === 'mean' ? 3 : 0;
      Object.assign(dataset, { data: points, pointRadius });
    });
    const range = chartGroup.zoom ?? fullRange();
    const { x, y } = chart.options.scales ?? {};
    Object.assign(x ?? {}, { min: range.from, max: range.to });
    // Otherwise, Chart.js would show default axis values for charts without data.
    const isEmpty = polylines.every(({ points }) => points.length === 0);
    for (const axis of [x, y]) Object.assign(axis?.ticks ?? {}, { display: !isEmpty });
    const layout = { range, width: chart.chartArea?.width ?? chart.width };
    const annotated = [
      ...bandAnnotations(bands, layout),
      ...thresholdAnnotations(panel),
      ...markAnnotations(marks),
    ];
    Object.assign(chart.options.plugins?.annotation ?? {}, { annotations: annotated });
    if (annotated.length > 0) void annotations.load().catch(() => undefined);
    chart.update('none');
  };
}
