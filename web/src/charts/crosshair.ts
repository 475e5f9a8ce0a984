// A crosshair shared by the charts of a group: hovering one chart marks the same time in all.
import type { Chart, ChartEvent, Plugin } from 'chart.js';
import type { ChartGroup } from './chart-group';
import { token } from './chart-js';

/** A Chart.js plugin that draws and moves the crosshair of `chartGroup`. */
export function crosshairPlugin(chartGroup: ChartGroup): Plugin<'line'> {
  return {
    id: 'crosshair',
    afterEvent(chart, { event, inChartArea }) {
      chartGroup.moveCrosshair(
        event.type === 'mouseout' || !inChartArea ? null : secondsAt(chart, event),
      );
    },
    afterDatasetsDraw(chart) {
      if (chartGroup.crosshair !== null) drawAt(chart, chartGroup.crosshair);
    },
  };
}

function secondsAt(chart: Chart, event: ChartEvent): number | null {
  const axis = chart.scales.x;
  return axis && event.x !== null ? (axis.getValueForPixel(event.x) ?? null) : null;
}

function drawAt(chart: Chart, seconds: number) {
  const x = chart.scales.x?.getPixelForValue(seconds);
  const { ctx, chartArea } = chart;
  if (x === undefined || x < chartArea.left || x > chartArea.right) return;
  ctx.save();
  ctx.strokeStyle = token('mute');
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(Math.round(x) + 0.5, chartArea.top);
  ctx.lineTo(Math.round(x) + 0.5, chartArea.bottom);
  ctx.stroke();
  ctx.restore();
}
