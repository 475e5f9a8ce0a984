import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import type { Gauge } from '../api';
import { EMPTY_GAUGE, LAYERS } from '../model/gauge/layers';
import { DepthGauge } from './gauge';
import { DEPTHS, flowShapes, leadDepth, ropeX } from './gauge-shape';

const NOTHING = { ios: 0, bytes: 0 };
const cached: Gauge = {
  issued: { ios: 853_333, bytes: 853_333 * 4096 },
  past_cache: NOTHING,
  reached: NOTHING,
  foreign: null,
  bypassed: false,
  served_by: 'page_cache',
  served_by_unknown: null,
  notes: { page_cache: 'served from memory' },
  uncertainty: 0,
};

it('shows I/Os served from memory as text and numbers', () => {
  render(<DepthGauge gauge={cached} description="All came from memory." />);
  const image = screen.getByRole('img', { name: 'Depth gauge. All came from memory.' });
  expect(image).toHaveTextContent('853,333');
  expect(image).toHaveTextContent('3.26 GiB');
  expect(image).toHaveTextContent('served frommemory');
});

it('ends a flow in the layer that served it', () => {
  expect(flowShapes(cached).map(({ paths }) => paths.map(({ color }) => color))).toEqual([
    ['app', 'cache'],
    ['app', 'cache'],
  ]);
});

it.each([290, 306, 460, 830])('uses the whole width: %s px', (width) => {
  const [ios, bytes] = flowShapes(cached, width);
  if (!ios || !bytes) throw new Error('no flows');
  // Counts of nine characters do not overlap, and foreign I/O fits at the right edge.
  expect(bytes.x - ios.x).toBeGreaterThan(70);
  expect(ios.x - 35).toBeGreaterThan(ropeX(width));
  const right = bytes.x + bytes.full / 2 + 17;
  expect(right).toBeLessThan(width);
  expect(right).toBeGreaterThan(width - (width > 600 ? 80 : 12));
});

it('marks unknown counts instead of drawing zero', () => {
  render(<DepthGauge gauge={{ ...cached, past_cache: null, reached: null }} description="" />);
  expect(screen.getByRole('img')).toHaveTextContent('Unknown');
});

it.each(LAYERS)('places the lead in the layer %s', (served_by) => {
  const depth = leadDepth({ ...cached, served_by });
  const layer = LAYERS.indexOf(served_by);
  expect(depth).toBeGreaterThan(DEPTHS[layer] ?? 0);
  expect(depth).toBeLessThan(DEPTHS[layer + 1] ?? 0);
});

it('draws no lead if the layer is unknown', () => {
  expect(leadDepth({ ...cached, served_by: null })).toBeNull();
});

it('draws nothing before the first I/O', () => {
  expect(flowShapes(EMPTY_GAUGE).flatMap(({ paths }) => paths)).toEqual([]);
});
