// Values that mean something, as dashed lines across a chart with their words on them. The first stands at the left,
// the next at the right, so that two that lie close can both be read.
import type { Chart, Plugin } from 'chart.js';
import { token } from './chart-js';
import type { Mark, Panel } from './panels';

/** The plugin that draws the marks of a panel. */
export function marksOf({ marks = [], format }: Pick<Panel, 'marks' | 'format'>): Plugin<'line'> {
  return {
    id: 'marks',
    afterDatasetsDraw(chart) {
      marks.forEach((mark, place) => {
        drawMark(chart, mark, format(mark.value), place % 2 === 1);
      });
    },
  };
}

function drawMark(chart: Chart, { label, value }: Mark, amount: string, atRight: boolean) {
  const { ctx, chartArea, scales } = chart;
  const y = scales.y?.getPixelForValue(value);
  if (y === undefined || y < chartArea.top || y > chartArea.bottom) return;
  ctx.save();
  ctx.strokeStyle = token('mute');
  ctx.setLineDash([2, 3]);
  ctx.beginPath();
  ctx.moveTo(chartArea.left, y);
  ctx.lineTo(chartArea.right, y);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.font = `10.5px ${token('font')}`;
  ctx.textAlign = atRight ? 'right' : 'left';
  const x = atRight ? chartArea.right - 4 : chartArea.left + 4;
  // An edge in the colour of the ground, so that lines behind do not cross the letters.
  Object.assign(ctx, {
    strokeStyle: token('surface'),
    fillStyle: token('mute'),
    lineWidth: 3,
    lineJoin: 'round',
  });
  ctx.strokeText(`${label} ${amount}`, x, y - 3);
  ctx.fillText(`${label} ${amount}`, x, y - 3);
  ctx.restore();
}
