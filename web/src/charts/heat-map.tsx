// Latency heat map: time, latency, and the number of I/Os as color. It is drawn on a single canvas
// without Chart.js, because it has thousands of cells.
import { memo, useCallback, useEffect, useMemo, useRef } from 'react';
import type { HeatSource } from '../model/fold/heat-source';
import { latency, plural, text } from '../model/format/numbers';
import {
  findExtent,
  type HeatColumn,
  intensity,
  rateOf,
  rowAt,
  rowStart,
} from '../model/series/heat-map';
import type { ChartGroup, Range } from './chart-group';
import { AXIS_WIDTH, TIME_AXIS_MARGIN, timeLabel, timeTicks, token } from './chart-js';
import { crosshairEvents, type Plot, placeCrosshair } from './crosshair';
import { whileVisible } from './while-visible';

interface HeatMapProps {
  heat: HeatSource;
  chartGroup: ChartGroup;
  /** Range to show when not zoomed, evaluated at every flush. */
  fullRange: () => Range;
}

/** In pixels. */
const BOTTOM = 22;
const TOP = 6;

/** Memoized: updates are drawn without React. */
export const HeatMap = memo(function HeatMap({ heat, chartGroup, fullRange }: HeatMapProps) {
  const card = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const legend = useRef<HTMLElement>(null);
  const crosshair = useRef<HTMLElement>(null);
  const plot = useCallback(
    () => plotOf(canvas.current, chartGroup.zoom ?? fullRange()),
    [chartGroup, fullRange],
  );
  useEffect(() => {
    const moveCrosshair = () => {
      placeCrosshair(crosshair.current, plot(), chartGroup.crosshair);
      const written = legendText(heat.columns(), heat.originMs(), chartGroup);
      if (legend.current) legend.current.textContent = written;
    };
    const redraw = () => {
      const area = plot();
      if (!canvas.current || !area) return;
      draw(canvas.current, heat.columns(), heat.originMs(), area);
      moveCrosshair();
    };
    redraw();
    const stops = [
      whileVisible(card.current, redraw, chartGroup),
      chartGroup.onCrosshair(moveCrosshair),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [heat, chartGroup, plot]);
  const pointer = useMemo(() => crosshairEvents(chartGroup, plot), [chartGroup, plot]);
  return (
    <section ref={card} className="card chart heat-map">
      <h2>
        Latency heat map (log)
        <span className="legend">
          <b ref={legend} />
        </span>
      </h2>
      <div className="canvas" {...pointer}>
        <canvas
          ref={canvas}
          role="img"
          aria-label="Latency heat map over time: brighter cells have more I/Os; the latency chart shows percentiles of the same data"
        />
        <i ref={crosshair} className="crosshair" hidden />
      </div>
    </section>
  );
});

function legendText(columns: readonly HeatColumn[], origin: number, { crosshair }: ChartGroup) {
  const at_ms = crosshair === null ? null : crosshair * 1000 + origin;
  const column = columns.find(
    ({ begin_ms, end_ms }) => at_ms !== null && begin_ms <= at_ms && at_ms < end_ms,
  );
  if (!column || column.counts.size === 0) return '';
  const rows = [...column.counts.keys()];
  const ios = [...column.counts.values()].reduce((sum, count) => sum + count, 0);
  const low = text(latency(rowStart(Math.min(...rows))));
  const high = text(latency(rowStart(Math.max(...rows) + 1)));
  return `${plural(ios, 'I/O')} from ${low} to ${high}`;
}

function plotOf(canvas: HTMLCanvasElement | null, range: Range): Plot | null {
  if (!canvas) return null;
  const { clientWidth, clientHeight } = canvas;
  return {
    left: AXIS_WIDTH,
    right: clientWidth - TIME_AXIS_MARGIN,
    top: TOP,
    bottom: clientHeight - BOTTOM,
    range,
  };
}

/** Sets the canvas size for the display resolution, and redraws the whole canvas. */
function draw(
  canvas: HTMLCanvasElement,
  columns: readonly HeatColumn[],
  origin: number,
  area: Plot,
) {
  const { range } = area;
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const ctx = canvas.getContext('2d');
  if (!ctx) return;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  ctx.font = '11px "Inter Variable", Inter, system-ui, sans-serif';
  const xOf = (seconds: number) =>
    area.left + ((seconds - range.from) / (range.to - range.from)) * (area.right - area.left);
  const extent = findExtent(columns);
  if (!extent) return;
  drawTimeAxis(ctx, range, area, xOf);
  // Round to powers of two, so that the axis rarely changes.
  const first = Math.floor(extent.first / 4) * 4 - 4;
  const last = Math.ceil((extent.last + 1) / 4) * 4 + 4;
  const rowHeight = (area.bottom - area.top) / (last - first);
  // Round to whole pixels: otherwise, there would be seams between cells.
  const yOf = (row: number) => Math.round(area.bottom - (row - first) * rowHeight);
  drawLatencyAxis(ctx, first, last, area, yOf);
  ctx.save();
  ctx.beginPath();
  ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
  ctx.clip();
  ctx.fillStyle = token('app');
  for (const column of columns) {
    const x = xOf((column.begin_ms - origin) / 1000);
    const end = xOf((column.end_ms - origin) / 1000);
    if (end < area.left || x > area.right) continue;
    const lowest = rateOf(column, 1);
    for (const [row, count] of column.counts) {
      ctx.globalAlpha = intensity(rateOf(column, count), extent.highest, lowest);
      ctx.fillRect(x, yOf(row + 1), Math.max(1, end - x), yOf(row) - yOf(row + 1));
    }
  }
  ctx.restore();
}

function drawTimeAxis(
  ctx: CanvasRenderingContext2D,
  { from, to }: Range,
  area: Plot,
  xOf: (seconds: number) => number,
) {
  const { ticks, step } = timeTicks({ min: from, max: to, width: area.right - area.left });
  ctx.fillStyle = token('mute');
  ctx.textAlign = 'center';
  ctx.textBaseline = 'top';
  for (const tick of ticks) {
    ctx.fillText(timeLabel(tick, step), xOf(tick), area.bottom + 6);
  }
}

/** Lines at powers of ten. */
function drawLatencyAxis(
  ctx: CanvasRenderingContext2D,
  first: number,
  last: number,
  area: Plot,
  yOf: (row: number) => number,
) {
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  ctx.strokeStyle = token('line');
  for (let ns = 1; rowAt(ns) <= last; ns *= 10) {
    const row = Math.log2(ns) * 4;
    if (row < first) continue;
    const y = Math.round(yOf(row)) + 0.5;
    if (y < area.top) break;
    ctx.beginPath();
    ctx.moveTo(area.left, y);
    ctx.lineTo(area.right, y);
    ctx.stroke();
    ctx.fillText(text(latency(ns)), area.left - 6, y);
  }
}
