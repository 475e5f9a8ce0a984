// The Chart.js options for a time chart: axes, zoom, and lines at thresholds.
import type { Chart, ChartOptions } from 'chart.js';
import type { AnnotationOptions } from 'chartjs-plugin-annotation';
import { type Dash, dashPattern } from '../model/series/line-style';
import { BINARY_AXIS, BINARY_LOG_AXIS } from './byte-axis';
import type { ChartGroup, Range } from './chart-group';
import { COMMON, TIME_AXIS_MARGIN, timeAxis, token, valueAxis, withAlpha } from './chart-js';
import type { Panel, Scale } from './panels';

type ChartPanel = Omit<Panel, 'lines'>;

export const isLogarithmic = (scale: Scale): boolean => scale === 'log' || scale === 'binary log';

/** Returns the same scale with a logarithmic or linear axis. */
export function withLogarithm(scale: Scale, isLog: boolean): Scale {
  const isBinary = scale.startsWith('binary');
  if (isLog) return isBinary ? 'binary log' : 'log';
  return isBinary ? 'binary' : 'linear';
}

function buildYAxis({ scale, format }: ChartPanel) {
  if (scale === 'binary') return { ...valueAxis('linear', format), ...BINARY_AXIS };
  if (scale === 'binary log') return { ...valueAxis('log', format, false), ...BINARY_LOG_AXIS };
  return valueAxis(scale, format);
}

export function buildOptions(
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
    layout: { padding: { ...COMMON.layout.padding, right: TIME_AXIS_MARGIN } },
    // Disable Chart.js's events, which would redraw the chart on every pointer move. The zoom
    // plugin has its own listeners.
    events: [],
    scales: { x: timeAxis({ min: from, max: to }), y: buildYAxis(panel) },
    plugins: {
      annotation: { annotations: thresholdAnnotations(panel), clip: false },
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
          // Swipes pan only zoomed charts.
          onPanStart: ({ event }) => event.pointerType !== 'touch' || chartGroup.zoom !== null,
          onPanComplete: zoomToAxis,
        },
      },
    },
  };
}

/** Dash patterns by threshold index. The legend has the labels: in the chart, they hide lines. */
const THRESHOLD_DASHES: readonly Dash[] = ['dotted', 'dash-dot'];

/** Legend entries for the thresholds. */
export const thresholdLines = ({ thresholds = [], format }: ChartPanel) =>
  thresholds.map(({ label, value }, i) => ({
    label: `${label} ${format(value)}`,
    color: 'mute',
    dash: THRESHOLD_DASHES[i],
  }));

export function thresholdAnnotations({ thresholds = [] }: ChartPanel): AnnotationOptions<'line'>[] {
  return thresholds.map(({ value }, i) => ({
    type: 'line',
    scaleID: 'y',
    value,
    borderColor: token('mute'),
    borderDash: dashPattern(THRESHOLD_DASHES[i]),
    borderWidth: 1,
  }));
}
