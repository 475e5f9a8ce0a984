// A time chart. It is redrawn at every flush without React, shows the values at the crosshair in
// its legend, and zooms together with the other charts in its group.
import { useComputedColorScheme, VisuallyHidden } from '@mantine/core';
import type { Chart } from 'chart.js';
import { memo, useEffect, useId, useMemo, useRef, useState } from 'react';
import { Line } from 'react-chartjs-2';
import type { Band } from '../model/fold/missing-time';
import { lastKnownValue, nearestIndex, type XY } from '../model/fold/series-view';
import type { Mark } from '../model/run/marks';
import { bandDescriptions, bandsOfPanel } from './bands';
import { chartImage, chartTable } from './chart-export';
import type { ChartGroup, Range } from './chart-group';
import { ChartMenu } from './chart-menu';
import { crosshairEvents, placeCrosshair, plotOf } from './crosshair';
import { Legend } from './legend';
import { markDescriptions } from './marks';
import type { Panel } from './panels';
import { chartUpdater, type DrawnLine, dataOf, hasEdges, toPolylines } from './time-chart-data';
import { buildOptions, isLogarithmic, thresholdLines, withLogarithm } from './time-chart-options';
import { whileVisible } from './while-visible';

type ChartPanel = Omit<Panel, 'lines'>;

export interface TimeChartProps {
  panel: ChartPanel;
  lines: readonly DrawnLine[];
  chartGroup: ChartGroup;
  /** Range to show when not zoomed, evaluated at every flush. */
  fullRange: () => Range;
  /** Time ranges to mark, evaluated at every flush. Must be stable between renders. */
  bands?: () => readonly Band[];
  /** Points in time to mark, evaluated at every flush. Must be stable between renders. */
  marks?: () => readonly Mark[];
  /** Points screen readers to the table with the same numbers. */
  tableHint?: string;
  /** Describes the lines for screen readers. Must be stable between renders. */
  summary?: readonly string[];
}

const NONE = () => [];
const NO_SUMMARY: readonly string[] = [];

/**
 * Memoized: updates are drawn without React. Chart.js reads colors only once, so a theme change
 * recreates the chart; its scale and hidden lines are kept.
 */
export const TimeChart = memo(function TimeChart(props: TimeChartProps) {
  const scheme = useComputedColorScheme();
  const scale = useScale(props.panel);
  const hiddenLines = useHiddenLines();
  return <DrawnChart key={scheme} {...props} {...scale} {...hiddenLines} />;
});

type DrawnChartProps = TimeChartProps &
  ReturnType<typeof useScale> &
  ReturnType<typeof useHiddenLines>;

function DrawnChart({
  panel,
  isLog,
  setIsLog,
  hidden,
  toggle,
  lines,
  chartGroup,
  fullRange,
  bands = NONE,
  marks = NONE,
  tableHint,
  summary = NO_SUMMARY,
}: DrawnChartProps) {
  const chart = useRef<Chart<'line', XY[]> | null>(null);
  const card = useRef<HTMLElement>(null);
  const legend = useRef<HTMLSpanElement>(null);
  const crosshair = useRef<HTMLElement>(null);
  const summaryId = useId();
  const polylines = useMemo(() => toPolylines(lines), [lines]);
  const [emphasized, setEmphasized] = useState<string | null>(null);
  const data = useMemo(
    () => dataOf(polylines, hidden, emphasized),
    [polylines, hidden, emphasized],
  );
  const options = useMemo(
    () => buildOptions(panel, chartGroup, fullRange()),
    [panel, chartGroup, fullRange],
  );
  const label = useMemo(
    () =>
      [
        `${panel.title}${isLog ? ' (log)' : ''} over time`,
        tableHint,
        ...thresholdLabels(panel),
      ].filter(Boolean),
    [panel, isLog, tableHint],
  );
  const limits = useMemo(() => thresholdLines(panel), [panel]);
  const pointer = useMemo(
    () => crosshairEvents(chartGroup, () => plotOf(chart.current)),
    [chartGroup],
  );

  useEffect(() => {
    const updateChart = chartUpdater(polylines, panel, chartGroup, fullRange);
    const moveCrosshair = () => {
      placeCrosshair(crosshair.current, plotOf(chart.current), chartGroup.crosshair);
      writeLegend(legend.current, lines, panel, chartGroup);
    };
    const redraw = () => {
      if (!chart.current) return;
      const marked = bandsOfPanel(bands(), panel.key);
      const moments = marks();
      const texts = [...label, ...bandDescriptions(marked), ...markDescriptions(moments)];
      setLabel(chart.current.canvas, texts.join('; '));
      updateChart(chart.current, marked, moments);
      moveCrosshair();
    };
    redraw();
    const stopRedraw = whileVisible(card.current, redraw, chartGroup);
    const stopCrosshair = chartGroup.onCrosshair(moveCrosshair);
    return () => {
      stopRedraw();
      stopCrosshair();
    };
  }, [lines, polylines, chartGroup, fullRange, bands, marks, label, panel]);

  return (
    <section ref={card} className="card chart">
      <h2>
        {panel.title}
        {isLog && ' (log)'}
        <Legend
          ref={legend}
          entries={lines}
          hidden={hidden}
          onToggle={toggle}
          onEmphasize={polylines.some(hasEdges) ? setEmphasized : undefined}
          constants={limits}
        />
        <ChartMenu
          title={panel.title}
          scale={{ isLog, setIsLog }}
          image={() =>
            chart.current && chartImage(chart.current, panel.title, [...lines, ...limits])
          }
          table={() => chartTable(lines, chartGroup.zoom)}
        />
      </h2>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: double-click is a shortcut for the reset button */}
      <div className="canvas" onDoubleClick={() => chartGroup.zoomTo(null)} {...pointer}>
        <Line
          ref={chart}
          data={data}
          options={options}
          role="img"
          aria-label={label.join('; ')}
          aria-describedby={summary.length > 0 ? summaryId : undefined}
        />
        <i ref={crosshair} className="crosshair" hidden />
      </div>
      {summary.length > 0 && <VisuallyHidden id={summaryId}>{summary.join('; ')}</VisuallyHidden>}
    </section>
  );
}

/** The panel, with the scale that the user chose. */
function useScale(initial: ChartPanel) {
  const [isLog, setIsLog] = useState(isLogarithmic(initial.scale));
  const panel = useMemo(
    () => ({ ...initial, scale: withLogarithm(initial.scale, isLog) }),
    [initial, isLog],
  );
  return { panel, isLog, setIsLog };
}

/** Labels of lines that the user has hidden. */
function useHiddenLines() {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const toggle = (label: string) =>
    setHidden((old) => {
      const next = new Set(old);
      if (!next.delete(label)) next.add(label);
      return next;
    });
  return { hidden, toggle };
}

const thresholdLabels = ({ thresholds = [], format }: ChartPanel) =>
  thresholds.map(({ label, value }) => `threshold at ${format(value)}: ${label}`);

/** Sets the label only if it has changed, because setting it recomputes styles. */
function setLabel(canvas: HTMLCanvasElement, label: string) {
  if (canvas.getAttribute('aria-label') !== label) canvas.setAttribute('aria-label', label);
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
    const text = view.length > 0 ? format(value) : '';
    if (slot.textContent !== text) slot.textContent = text;
  });
}
