// Exports a chart as a PNG file, and its data as a table for spreadsheets.
import type { Chart } from 'chart.js';
import type { SeriesView } from '../model/fold/series-view';
import type { Column } from '../model/series/columns';
import { dashPattern, isCross, type LineStyle, POINT_PATHS } from '../model/series/line-style';
import type { Range } from './chart-group';
import { token } from './chart-js';

interface LegendEntry extends LineStyle {
  label: string;
}

interface ExportedLine extends LegendEntry {
  view: SeriesView;
  columns: readonly Column[];
}

/** In CSS pixels. */
const TITLE_HEIGHT = 24;
const LEGEND_ROW_HEIGHT = 20;
const MARGIN = 12;
const LINE_MARK = 24;
const LEGEND_FONT = '12px "Inter Variable", Inter, system-ui, sans-serif';

/** Draws the title, the legend and the chart on the page's background color. */
export function chartImage(
  chart: Pick<Chart, 'canvas' | 'currentDevicePixelRatio'>,
  title: string,
  lines: readonly LegendEntry[],
): HTMLCanvasElement {
  const { canvas, currentDevicePixelRatio: scale } = chart;
  const image = document.createElement('canvas');
  const context = image.getContext('2d');
  if (!context) return image;
  context.font = LEGEND_FONT;
  const legend = legendRows(context, lines, canvas.width / scale);
  const height = TITLE_HEIGHT + legend.length * LEGEND_ROW_HEIGHT;
  image.width = canvas.width + 2 * MARGIN * scale;
  image.height = canvas.height + (height + 2 * MARGIN) * scale;
  context.fillStyle = token('surface');
  context.fillRect(0, 0, image.width, image.height);
  context.drawImage(canvas, MARGIN * scale, (height + MARGIN) * scale);
  context.scale(scale, scale);
  context.font = '600 14px "Inter Variable", Inter, system-ui, sans-serif';
  context.fillStyle = token('text');
  context.fillText(title, MARGIN, MARGIN + 14);
  context.font = LEGEND_FONT;
  context.lineWidth = 2.4;
  legend.forEach((row, index) => {
    const y = MARGIN + TITLE_HEIGHT + index * LEGEND_ROW_HEIGHT + 10;
    for (const { label, x, ...style } of row) {
      context.save();
      context.translate(MARGIN + x, y);
      drawMark(context, style);
      context.restore();
      context.fillText(label, MARGIN + x + LINE_MARK + 6, y + 4);
    }
  });
  return image;
}

/** Draws a line that is `LINE_MARK` pixels long, or a point centered in that space. */
function drawMark(context: CanvasRenderingContext2D, { color, dash, point }: LineStyle) {
  context.strokeStyle = token(color);
  context.setLineDash(dashPattern(dash));
  if (point) {
    context.fillStyle = token(color);
    context.translate(LINE_MARK / 2 - 5, -5);
    const path = new Path2D(POINT_PATHS[point]);
    if (isCross(point)) context.stroke(path);
    else context.fill(path);
    return;
  }
  context.beginPath();
  context.moveTo(0, 0);
  context.lineTo(LINE_MARK, 0);
  context.stroke();
}

/** Arranges the entries in rows of at most `width` pixels, and adds each entry's x position. */
function legendRows(
  context: CanvasRenderingContext2D,
  lines: readonly LegendEntry[],
  width: number,
): (LegendEntry & { x: number })[][] {
  const rows: (LegendEntry & { x: number })[][] = [[]];
  let x = 0;
  for (const line of lines) {
    const entryWidth = LINE_MARK + 6 + context.measureText(line.label).width;
    if (x > 0 && x + entryWidth > width) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1)?.push({ ...line, x });
    x += entryWidth + 16;
  }
  return rows;
}

/** The points in `range` as tab-separated values. Unknown values are empty. */
export function chartTable(lines: readonly ExportedLine[], range: Range | null): string {
  const view = lines[0]?.view;
  const columns = lines.flatMap(exportedColumns);
  const rows = [['seconds', ...columns.map(({ name }) => name)].join('\t')];
  // Lines of the same run share timestamps; lines of different runs do not.
  const isShared = lines.every((line) => line.view === view);
  if (!isShared) return lines.map((line) => chartTable([line], range)).join('\n\n');
  for (let i = 0; view && i < view.length; i += 1) {
    const seconds = view.seconds(i);
    if (range && (seconds < range.from || seconds > range.to)) continue;
    const values = columns.map(({ of, statistic }) => view.value(i, of, statistic) ?? '');
    rows.push([seconds.toFixed(3), ...values].join('\t'));
  }
  return rows.join('\n');
}

/** One column for the line, and two more if its band's edges are named. */
function exportedColumns({ label, columns: of, view: { edges } }: ExportedLine) {
  const edge = (statistic: 'min' | 'max') =>
    edges ? [{ name: `${label}: ${edges[statistic]}`, of, statistic }] : [];
  return [{ name: label, of, statistic: 'mean' as const }, ...edge('min'), ...edge('max')];
}
