// A chart over time on a stage: lines follow their source at every flush without React knowing, the legend shows the
// value under the crosshair (or the last), dragging zooms all charts of the stage, double-click shows everything.
import type { Chart, ChartData, ChartOptions } from 'chart.js';
import { memo, useEffect, useMemo, useRef } from 'react';
import { Line } from 'react-chartjs-2';
import {
  lastKnownValue,
  nearestIndex,
  type SeriesView,
  syncPoints,
  type XY,
} from '../model/fold/series-view';
import { dashPattern } from '../model/series/line-style';
import type { ChartGroup, Range } from './chart-group';
import {
  BINARY_AXIS,
  BINARY_LOG_AXIS,
  COMMON,
  faded,
  timeAxis,
  token,
  valueAxis,
} from './chart-js';
import { crosshairOf } from './crosshair';
import { Legend, type LegendEntry } from './legend';
import { marksOf } from './marks';
import type { Panel, PanelLine } from './panels';

/** A line and where its points come from. */
export interface DrawnLine extends PanelLine {
  view: SeriesView;
}

type DrawnPanel = Omit<Panel, 'lines'>;

/** What a chart over time needs. */
export interface TimeChartProps {
  panel: DrawnPanel;
  lines: readonly DrawnLine[];
  chartGroup: ChartGroup;
  /** What is shown when nothing is zoomed; asked at every flush. */
  whole: () => Range;
  /** Where the same numbers can be read, in half a sentence; for those who do not see the chart. */
  elsewhere?: string;
}

/** The chart. Memoised: it draws by itself and must not be rendered because something above it was. */
export const TimeChart = memo(function TimeChart({
  panel,
  lines,
  chartGroup,
  whole,
  elsewhere,
}: TimeChartProps) {
  const chart = useRef<Chart<'line', XY[]> | null>(null);
  const card = useRef<HTMLElement>(null);
  const legend = useRef<HTMLSpanElement>(null);
  const strokes = useMemo(() => strokesOf(lines), [lines]);
  const data = useMemo(() => dataOf(strokes), [strokes]);
  const options = useMemo(() => optionsOf(panel, chartGroup, whole()), [panel, chartGroup, whole]);
  const plugins = useMemo(() => [crosshairOf(chartGroup), marksOf(panel)], [chartGroup, panel]);

  useEffect(() => {
    const draw = drawer(strokes, chartGroup, whole);
    const flush = () => {
      if (!chart.current) return;
      draw(chart.current);
      tell();
    };
    const tell = () => writeLegend(legend.current, lines, panel, chartGroup);
    const point = () => {
      chart.current?.draw();
      tell();
    };
    flush();
    const stops = [onlyInSight(card.current, flush, chartGroup.onFlush), chartGroup.onPoint(point)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [lines, strokes, chartGroup, whole, panel]);

  const entries: LegendEntry[] = lines.map(({ label, color, dash }) => ({ label, color, dash }));
  return (
    <section ref={card} className="card chart">
      <h2>
        {panel.title}
        <Legend ref={legend} entries={entries} />
      </h2>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: double-click is a shortcut for the button that shows everything */}
      <div className="canvas" onDoubleClick={() => chartGroup.zoomTo(null)}>
        <Line
          ref={chart}
          data={data}
          options={options}
          plugins={plugins}
          role="img"
          aria-label={`${panel.title} over time${elsewhere ? `; ${elsewhere}` : ''}${marksInWords(panel)}`}
        />
      </div>
    </section>
  );
});

const marksInWords = ({ marks = [], format }: DrawnPanel) =>
  marks.map(({ label, value }) => `; a dashed line at ${format(value)}, ${label}`).join('');

/** Calls back at every flush while an element can be seen, and when it comes into sight. Returns how to stop it. */
function onlyInSight(
  element: HTMLElement | null,
  draw: () => void,
  onFlush: ChartGroup['onFlush'],
): () => void {
  let inSight = true;
  const stop = onFlush(() => inSight && draw());
  if (!element || typeof IntersectionObserver === 'undefined') return stop;
  const observer = new IntersectionObserver(([entry]) => {
    inSight = entry?.isIntersecting ?? true;
    if (inSight) draw();
  });
  observer.observe(element);
  return () => {
    observer.disconnect();
    stop();
  };
}

/** One drawn polyline: a line itself, or one edge of the band between its least and greatest values. */
interface Stroke {
  line: DrawnLine;
  which: 'mean' | 'min' | 'max';
  points: XY[];
}

function strokesOf(lines: readonly DrawnLine[]): Stroke[] {
  const stroke = (line: DrawnLine, which: Stroke['which']): Stroke => ({ line, which, points: [] });
  const banded = lines.filter(({ view }) => view.banded);
  return [
    ...lines.map((line) => stroke(line, 'mean')),
    ...banded.flatMap((line) => [stroke(line, 'min'), stroke(line, 'max')]),
  ];
}

function dataOf(strokes: readonly Stroke[]): ChartData<'line', XY[]> {
  const datasets = strokes.map(({ line: { label, color, dash, thin, sparse }, which, points }) => ({
    label: `${label} ${which}`,
    data: points,
    borderColor: token(color),
    borderDash: dashPattern(dash),
    spanGaps: sparse ?? false,
    // A course of one point has no line.
    pointRadius: () => (points.length === 1 && which === 'mean' ? 3 : 0),
    borderWidth: which === 'mean' ? (thin ? 1 : 1.6) : 0,
    // The lower is drawn later: dashes stay visible over the line that they match, bands lie below all.
    order: which === 'mean' ? (dash ? 0 : 1) : 2,
    fill: which === 'max' ? '-1' : false,
    backgroundColor: faded(color, 0.16),
  }));
  return { datasets };
}

/** Brings the strokes up to date and draws the stretch that the stage shows. */
function drawer(strokes: readonly Stroke[], chartGroup: ChartGroup, whole: () => Range) {
  const drawn = new Map<Stroke, string>();
  return (chart: Chart<'line', XY[]>) => {
    strokes.forEach((stroke, i) => {
      const { line, which, points } = stroke;
      if (drawn.get(stroke) !== line.view.generation) points.length = 0;
      drawn.set(stroke, line.view.generation);
      syncPoints(points, line.view, line.columns, which);
      const dataset = chart.data.datasets[i];
      if (dataset) dataset.data = points;
    });
    const { from, to } = chartGroup.zoom ?? whole();
    Object.assign(chart.options.scales?.x ?? {}, { min: from, max: to });
    chart.update('none');
  };
}

function writeLegend(
  legend: HTMLSpanElement | null,
  lines: readonly DrawnLine[],
  panel: DrawnPanel,
  chartGroup: ChartGroup,
) {
  lines.forEach(({ view, columns }, i) => {
    const at = chartGroup.crosshair === null ? undefined : nearestIndex(view, chartGroup.crosshair);
    const value = lastKnownValue(view, columns, at);
    const slot = legend?.children[i]?.querySelector('b');
    if (slot) slot.textContent = view.length > 0 ? panel.format(value) : '';
  });
}

function scaleOf({ scale, format }: DrawnPanel) {
  if (scale === 'binary') return { ...valueAxis('linear', format), ...BINARY_AXIS };
  if (scale === 'binary log') return { ...valueAxis('log', format, false), ...BINARY_LOG_AXIS };
  return valueAxis(scale, format);
}

function optionsOf(
  panel: DrawnPanel,
  chartGroup: ChartGroup,
  { from, to }: Range,
): ChartOptions<'line'> {
  const zoomed = ({ chart }: { chart: Chart }) => {
    const axis = chart.scales.x;
    if (axis) chartGroup.zoomTo({ from: axis.min, to: axis.max });
  };
  return {
    ...COMMON,
    interaction: { mode: 'nearest', axis: 'x', intersect: false },
    scales: {
      x: timeAxis({ min: from, max: to }),
      y: {
        ...scaleOf(panel),
        suggestedMax: Math.max(0, ...(panel.marks ?? []).map(({ value }) => value)) || undefined,
      },
    },
    plugins: {
      zoom: {
        zoom: {
          mode: 'x',
          drag: { enabled: true, backgroundColor: faded('app', 0.2) },
          wheel: { enabled: true, modifierKey: 'ctrl' },
          onZoomComplete: zoomed,
        },
        pan: { enabled: true, mode: 'x', modifierKey: 'shift', onPanComplete: zoomed },
      },
    },
  };
}
