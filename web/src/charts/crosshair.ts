// A crosshair shared by the charts in a group: hovering over one chart marks the same time in all
// of them. The crosshair is an element above the canvas, so that moving it does not redraw charts.
import type { Chart } from 'chart.js';
import type { PointerEvent } from 'react';
import type { ChartGroup, Range } from './chart-group';

/** Plot area of a chart, in canvas pixels, and the time range that it shows. */
export interface Plot {
  left: number;
  right: number;
  top: number;
  bottom: number;
  range: Range;
}

export function plotOf(chart: Chart<'line', unknown> | null): Plot | null {
  const axis = chart?.scales.x;
  if (!chart?.chartArea || !axis) return null;
  const { left, right, top, bottom } = chart.chartArea;
  return { left, right, top, bottom, range: { from: axis.min, to: axis.max } };
}

/** Moves `line` to `seconds`, or hides it. */
export function placeCrosshair(
  line: HTMLElement | null,
  plot: Plot | null,
  seconds: number | null,
) {
  if (!line) return;
  const share =
    plot && seconds !== null
      ? (seconds - plot.range.from) / (plot.range.to - plot.range.from)
      : Number.NaN;
  line.hidden = !(share >= 0 && share <= 1);
  if (!plot || line.hidden) return;
  const { left, right, top, bottom } = plot;
  line.style.height = `${bottom - top}px`;
  line.style.transform = `translate(${Math.round(left + share * (right - left))}px, ${top}px)`;
}

/** Handlers for the element that contains the canvas and the crosshair. */
export function crosshairEvents(chartGroup: ChartGroup, plot: () => Plot | null) {
  const move = ({ clientX, clientY, currentTarget }: PointerEvent<HTMLElement>) => {
    const box = currentTarget.getBoundingClientRect();
    chartGroup.moveCrosshair(secondsAt(plot(), clientX - box.left, clientY - box.top));
  };
  const leave = ({ pointerType }: PointerEvent<HTMLElement>) => {
    // After a touch, the crosshair remains when the finger is lifted.
    if (pointerType !== 'touch') chartGroup.moveCrosshair(null);
  };
  return { onPointerDown: move, onPointerMove: move, onPointerLeave: leave };
}

function secondsAt(plot: Plot | null, x: number, y: number): number | null {
  if (!plot) return null;
  const { left, right, top, bottom, range } = plot;
  if (x < left || x > right || y < top || y > bottom) return null;
  return range.from + ((x - left) / (right - left)) * (range.to - range.from);
}
