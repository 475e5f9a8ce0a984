import type { Chart } from 'chart.js';
import { expect, it } from 'vitest';
import type { SeriesView, XY } from '../model/fold/series-view';
import { ChartGroup } from './chart-group';
import { getPanels } from './panels';
import { chartUpdater, toPolylines } from './time-chart-data';

const viewOf = (length: number): SeriesView => ({
  length,
  banded: false,
  generation: '',
  seconds: (index) => index,
  value: () => 1,
});

it.each([
  [0, false],
  [2, true],
])('with %d samples, the axes are labeled: %s', (length, isLabeled) => {
  const [panel] = getPanels({ reads: true, writes: false, trims: false });
  if (!panel) throw new Error('no panel');
  const view = viewOf(length);
  const polylines = toPolylines(panel.lines.map((line) => ({ ...line, view })));
  const scales = { x: { ticks: {} }, y: { ticks: {} } };
  const chart = {
    data: { datasets: polylines.map(() => ({})) },
    options: { scales, plugins: { annotation: {} } },
    width: 100,
    update: () => undefined,
  } as unknown as Chart<'line', XY[]>;
  chartUpdater(polylines, panel, new ChartGroup(), () => ({ from: 0, to: 1 }))(chart, [], []);
  expect(scales.x.ticks).toEqual({ display: isLabeled });
  expect(scales.y.ticks).toEqual({ display: isLabeled });
});
