// A time chart. It redraws at every flush without React, shows the values at the crosshair in its
// legend, and zooms all charts of its group.
import type { Chart, ChartData, ChartOptions } from 'chart.js';
import type { AnnotationOptions } from 'chartjs-plugin-annotation';
import { memo, useEffect, useMemo, useRef } from 'react';
import { Line } from 'react-chartjs-2';
import type { Band } from '../model/fold/missing-time';
import {
  lastKnownValue,
  nearestIndex,
  type SeriesView,
  syncPoints,
  type XY,
} from '../model/fold/series-view';
import { dashPattern } from '../model/series/line-style';
import { bandAnnotations, bandsOfPanel, bandTexts } from './bands';
import { chartImage, chartTable } from './chart-export';
import type { ChartGroup, Range } from './chart-group';
import {
  BINARY_AXIS,
  BINARY_LOG_AXIS,
  COMMON,
  timeAxis,
  token,
  valueAxis,
  withAlpha,
} from './chart-js';
import { ChartMenu } from './chart-menu';
import { crosshairPlugin } from './crosshair';
import { Legend } from './legend';
import type { Panel, PanelLine } from './panels';
import { pixelMs, whileVisible } from './while-visible';

/** A line and its data. */
export interface DrawnLine extends PanelLine {
  view: SeriesView;
  /** The value in the legend without a crosshair; by default, the last one. */
  whole?: () => number | null | undefined;
}

type ChartPanel = Omit<Panel, 'lines'>;

export interface TimeChartProps {
  panel: ChartPanel;
  lines: readonly DrawnLine[];
  chartGroup: ChartGroup;
  /** The range without zoom, evaluated at every flush. */
  fullRange: () => Range;
  /** Ranges to mark, evaluated at every flush; must be stable between renders. */
  bands?: () => readonly Band[];
  /** Refers screen readers to the table with the same numbers. */
  tableHint?: string;
}

const NO_BANDS = () => [];

/** Memoized, because it redraws without React. */
export const TimeChart = memo(function TimeChart({
  panel,
  lines,
  chartGroup,
  fullRange,
  bands = NO_BANDS,
  tableHint,
}: TimeChartProps) {
  const chart = useRef<Chart<'line', XY[]> | null>(null);
  const card = useRef<HTMLElement>(null);
  const legend = useRef<HTMLSpanElement>(null);
  const polylines = useMemo(() => polylinesOf(lines), [lines]);
  const data = useMemo(() => dataOf(polylines), [polylines]);
  const options = useMemo(
    () => optionsOf(panel, chartGroup, fullRange()),
    [panel, chartGroup, fullRange],
  );
  const label = useMemo(
    () => [`${panel.title} over time`, tableHint, ...thresholdLabels(panel)].filter(Boolean),
    [panel, tableHint],
  );
  const plugins = useMemo(() => [crosshairPlugin(chartGroup)], [chartGroup]);

  useEffect(() => {
    const updateLegend = () => writeLegend(legend.current, lines, panel, chartGroup);
    const updateChart = chartUpdater(polylines, panel, chartGroup, fullRange);
    const redraw = () => {
      if (!chart.current) return;
      const marked = bandsOfPanel(bands(), panel.key);
      const texts = [...label, ...bandTexts(marked)];
      chart.current.canvas.setAttribute('aria-label', texts.join('; '));
      updateChart(chart.current, marked);
      updateLegend();
    };
    const moveCrosshair = () => {
      chart.current?.draw();
      updateLegend();
    };
    redraw();
    const stopRedraw = whileVisible(card.current, redraw, chartGroup, () =>
      pixelMs(chartGroup.zoom ?? fullRange(), chart.current?.width ?? 0),
    );
    const stopCrosshair = chartGroup.onCrosshair(moveCrosshair);
    return () => {
      stopRedraw();
      stopCrosshair();
    };
  }, [lines, polylines, chartGroup, fullRange, bands, label, panel]);

  return (
    <section ref={card} className="card chart">
      <h2>
        {panel.title}
        <Legend ref={legend} entries={lines} />
        <ChartMenu
          title={panel.title}
          image={() => chart.current && chartImage(chart.current, panel.title, lines)}
          table={() => chartTable(lines, chartGroup.zoom)}
        />
      </h2>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: double-click is a shortcut for the reset button */}
      <div className="canvas" onDoubleClick={() => chartGroup.zoomTo(null)}>
        <Line
          ref={chart}
          data={data}
          options={options}
          plugins={plugins}
          role="img"
          aria-label={label.join('; ')}
        />
      </div>
    </section>
  );
});

const thresholdLabels = ({ thresholds = [], format }: ChartPanel) =>
  thresholds.map(({ label, value }) => `dashed line at ${format(value)}: ${label}`);

/** One dataset: the mean of a line, or one edge of the band between its minimum and maximum. */
interface Polyline {
  line: DrawnLine;
  statistic: 'mean' | 'min' | 'max';
  points: XY[];
}

function polylinesOf(lines: readonly DrawnLine[]): Polyline[] {
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

function dataOf(polylines: readonly Polyline[]): ChartData<'line', XY[]> {
  return { datasets: polylines.map(datasetOf) };
}

function datasetOf({ line, statistic, points }: Polyline) {
  const { label, color, dash, thin, sparse } = line;
  const isMean = statistic === 'mean';
  return {
    label: `${label} ${statistic}`,
    data: points,
    borderColor: token(color),
    borderDash: dashPattern(dash),
    spanGaps: sparse ?? false,
    pointRadius: 0,
    borderWidth: isMean ? (thin ? 1 : 1.6) : 0,
    // Lower orders are drawn on top: dashed lines, then solid lines, then bands.
    order: isMean ? (dash ? 0 : 1) : 2,
    fill: statistic === 'max' ? '-1' : false,
    backgroundColor: withAlpha(color, 0.16),
  };
}

function chartUpdater(
  polylines: readonly Polyline[],
  panel: ChartPanel,
  chartGroup: ChartGroup,
  fullRange: () => Range,
) {
  const generations = new Map<Polyline, string>();
  return (chart: Chart<'line', XY[]>, bands: readonly Band[]) => {
    polylines.forEach((polyline, i) => {
      const { line, statistic, points } = polyline;
      if (generations.get(polyline) !== line.view.generation) points.length = 0;
      generations.set(polyline, line.view.generation);
      syncPoints(points, line.view, line.columns, statistic);
      const dataset = chart.data.datasets[i];
      if (!dataset) return;
      // A single point has no line. A function here would resolve the options of every point.
      const pointRadius = points.length === 1 && statistic === 'mean' ? 3 : 0;
      Object.assign(dataset, { data: points, pointRadius });
    });
    const range = chartGroup.zoom ?? fullRange();
    Object.assign(chart.options.scales?.x ?? {}, { min: range.from, max: range.to });
    // The labels of thresholds are at the top.
    const labelPosition = panel.thresholds?.length ? 'center' : 'start';
    const layout = { range, width: chart.chartArea?.width ?? chart.width, labelPosition } as const;
    Object.assign(chart.options.plugins?.annotation ?? {}, {
      annotations: [...bandAnnotations(bands, layout), ...annotationsOf(panel)],
    });
    chart.update('none');
  };
}

function writeLegend(
  legend: HTMLSpanElement | null,
  lines: readonly DrawnLine[],
  { format }: ChartPanel,
  { crosshair }: ChartGroup,
) {
  lines.forEach(({ view, columns, whole }, i) => {
    const slot = legend?.children[i]?.querySelector('b');
    if (!slot) return;
    const index = crosshair === null ? undefined : nearestIndex(view, crosshair);
    const ofRun = index === undefined ? whole?.() : undefined;
    const value = ofRun === undefined ? lastKnownValue(view, columns, index) : ofRun;
    slot.textContent = view.length > 0 ? format(value) : '';
  });
}

function yAxisOf({ scale, format }: ChartPanel) {
  if (scale === 'binary') return { ...valueAxis('linear', format), ...BINARY_AXIS };
  if (scale === 'binary log') return { ...valueAxis('log', format, false), ...BINARY_LOG_AXIS };
  return valueAxis(scale, format);
}

function optionsOf(
  panel: ChartPanel,
  chartGroup: ChartGroup,
  { from, to }: Range,
): ChartOptions<'line'> {
  const zoomToAxis = ({ chart }: { chart: Chart }) => {
    const axis = chart.scales.x;
    if (axis) chartGroup.zoomTo({ from: axis.min, to: axis.max });
  };
  return {
    ...COMMON,
    interaction: { mode: 'nearest', axis: 'x', intersect: false },
    scales: { x: timeAxis({ min: from, max: to }), y: yAxisOf(panel) },
    plugins: {
      annotation: { annotations: annotationsOf(panel), clip: false },
      zoom: {
        zoom: {
          mode: 'x',
          drag: { enabled: true, backgroundColor: withAlpha('app', 0.2) },
          wheel: { enabled: true, modifierKey: 'ctrl' },
          pinch: { enabled: true },
          onZoomComplete: zoomToAxis,
        },
        pan: {
          enabled: true,
          mode: 'x',
          modifierKey: 'shift',
          // A swipe across an unzoomed chart does nothing.
          onPanStart: ({ event }) => event.pointerType !== 'touch' || chartGroup.zoom !== null,
          onPanComplete: zoomToAxis,
        },
      },
    },
  };
}

/** Labels alternate between left and right, so that labels of nearby thresholds do not overlap. */
function annotationsOf({ thresholds = [], format }: ChartPanel): AnnotationOptions<'line'>[] {
  return thresholds.map(({ label, value }, i) => ({
    type: 'line',
    scaleID: 'y',
    value,
    borderColor: token('mute'),
    borderDash: [2, 3],
    borderWidth: 1,
    label: {
      display: true,
      content: `${label} ${format(value)}`,
      position: i % 2 === 0 ? 'start' : 'end',
      color: token('mute'),
      backgroundColor: 'transparent',
      textStrokeColor: token('surface'),
      textStrokeWidth: 4,
      font: { size: 10.5, weight: 'normal' },
      padding: { x: 4, y: 1 },
      yAdjust: -8,
      z: 1,
    },
  }));
}
