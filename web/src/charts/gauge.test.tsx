import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { type Gauge, gaugeOf } from '../model/gauge/gauge';
import { DepthGauge } from './gauge';
import { DEPTHS, flowsOf, leadDepth } from './gauge-shape';

const NOTHING = { ios: 0, bytes: 0 };
const cached: Gauge = {
  issued: { ios: 853_333, bytes: 853_333 * 4096 },
  pastCache: NOTHING,
  reached: NOTHING,
  foreign: null,
  bypassed: false,
  servedBy: 1,
  notes: { 1: 'answered from memory' },
  uncertainty: 0,
};

it('says in words and numbers that 853,333 I/Os came from memory', () => {
  render(<DepthGauge gauge={cached} words="All came from memory." />);
  const picture = screen.getByRole('img', { name: 'Depth gauge. All came from memory.' });
  expect(picture).toHaveTextContent('853,333');
  expect(picture).toHaveTextContent('3.26 GiB');
  expect(picture).toHaveTextContent('answered frommemory');
});

it('ends a flow where it was answered', () => {
  expect(flowsOf(cached).map(({ paths }) => paths.map(({ color }) => color))).toEqual([
    ['app', 'cache'],
    ['app', 'cache'],
  ]);
});

it('marks what is not known instead of drawing zero', () => {
  render(<DepthGauge gauge={{ ...cached, pastCache: null, reached: null }} words="" />);
  expect(screen.getByRole('img')).toHaveTextContent('not known');
});

it.each([0, 1, 2, 3] as const)('hangs the lead in layer %i', (servedBy) => {
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
  expect(flowsOf(nothing).flatMap(({ paths }) => paths)).toEqual([]);
});
