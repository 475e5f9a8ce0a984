import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { gaugeOf } from '../model/gauge/gauge';
import type { Gauge } from '../model/gauge/types';
import { DepthGauge } from './gauge';
import { DEPTHS, flowShapes, leadDepth } from './gauge-shape';

const NOTHING = { ios: 0, bytes: 0 };
const cached: Gauge = {
  issued: { ios: 853_333, bytes: 853_333 * 4096 },
  pastCache: NOTHING,
  reached: NOTHING,
  foreign: null,
  bypassed: false,
  servedBy: 1,
  notes: { 1: 'served from memory' },
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

it('marks unknown counts instead of drawing zero', () => {
  render(<DepthGauge gauge={{ ...cached, pastCache: null, reached: null }} description="" />);
  expect(screen.getByRole('img')).toHaveTextContent('not known');
});

it.each([0, 1, 2, 3] as const)('places the lead in layer %i', (servedBy) => {
  const depth = leadDepth({ ...cached, servedBy });
  expect(depth).toBeGreaterThan(DEPTHS[servedBy]);
  expect(depth).toBeLessThan(DEPTHS[servedBy + 1] ?? 0);
});

it('draws nothing before the first I/O', () => {
  const nothing = gaugeOf({
    read: NOTHING,
    write: NOTHING,
    trim: NOTHING,
    device: null,
    physical_devices: null,
    direct: true,
    mode: 'direct',
  });
  expect(flowShapes(nothing).flatMap(({ paths }) => paths)).toEqual([]);
});
