// A chart as a PNG file, and its data as a table for spreadsheets.
import type { Chart } from 'chart.js';
import type { SeriesView } from '../model/fold/series-view';
import type { Column } from '../model/series/columns';
import type { Range } from './chart-group';
import { token } from './chart-js';

interface ExportedLine {
  label: string;
  /** Name of a color token. */
  color: string;
  view: SeriesView;
  columns: readonly Column[];
}

/** In CSS pixels. */
const TITLE_HEIGHT = 44;
const MARGIN = 12;
const LINE_MARK = 18;

/** Draws the title, the legend and the chart on the page's background. */
export function chartImage(
  chart: Pick<Chart, 'canvas' | 'currentDevicePixelRatio'>,
  title: string,
  lines: readonly Pick<ExportedLine, 'label' | 'color'>[],
): HTMLCanvasElement {
  const { canvas, currentDevicePixelRatio: scale } = chart;
  const image = document.createElement('canvas');
  image.width = canvas.width + 2 * MARGIN * scale;
  image.height = canvas.height + (TITLE_HEIGHT + 2 * MARGIN) * scale;
  const context = image.getContext('2d');
  if (!context) return image;
  context.fillStyle = token('surface');
  context.fillRect(0, 0, image.width, image.height);
  context.drawImage(canvas, MARGIN * scale, (TITLE_HEIGHT + MARGIN) * scale);
  context.scale(scale, scale);
  context.font = '600 14px "Inter Variable", Inter, system-ui, sans-serif';
  context.fillStyle = token('text');
  context.fillText(title, MARGIN, MARGIN + 14);
  context.font = '12px "Inter Variable", Inter, system-ui, sans-serif';
  let x = MARGIN;
  for (const { label, color } of lines) {
    context.fillStyle = token(color);
    context.fillRect(x, MARGIN + 30, LINE_MARK, 3);
    context.fillStyle = token('text');
    context.fillText(label, x + LINE_MARK + 6, MARGIN + 36);
    x += LINE_MARK + 22 + context.measureText(label).width;
  }
  return image;
}

/** Tab-separated values of the points in `range`; unknown values are empty. */
export function chartTable(lines: readonly ExportedLine[], range: Range | null): string {
  const view = lines[0]?.view;
  const rows = [['seconds', ...lines.map(({ label }) => label)].join('\t')];
  // Lines of one run have the same points; those of several runs do not.
  const isShared = lines.every((line) => line.view === view);
  if (!isShared) return lines.map((line) => chartTable([line], range)).join('\n\n');
  for (let i = 0; view && i < view.length; i += 1) {
    const seconds = view.seconds(i);
    if (range && (seconds < range.from || seconds > range.to)) continue;
    const values = lines.map(({ columns }) => view.value(i, columns) ?? '');
    rows.push([seconds.toFixed(3), ...values].join('\t'));
  }
  return rows.join('\n');
}
