import { beforeEach, expect, it, vi } from 'vitest';
import { ChartGroup } from './chart-group';

let frames: FrameRequestCallback[];
let now: number;
const nextFrame = () => {
  now += 16;
  const due = frames;
  frames = [];
  for (const frame of due) frame(0);
};

beforeEach(() => {
  frames = [];
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => frames.push(frame));
});

it('draws once per frame', () => {
  const chartGroup = new ChartGroup();
  const draw = vi.fn();
  chartGroup.onFlush(draw);
  for (let i = 0; i < 50; i += 1) chartGroup.request();
  expect(draw).not.toHaveBeenCalled();
  nextFrame();
  expect(draw).toHaveBeenCalledTimes(1);
  chartGroup.request();
  nextFrame();
  expect(chartGroup.version).toBe(2);
});

it('waits after a slow redraw', () => {
  const chartGroup = new ChartGroup();
  const draw = vi.fn(() => {
    now += 20;
  });
  chartGroup.onFlush(draw);
  chartGroup.request();
  nextFrame();
  chartGroup.request();
  nextFrame();
  expect(draw).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 4; i += 1) nextFrame();
  expect(draw).toHaveBeenCalledTimes(2);
});

it('does not draw while paused, and redraws when resumed', () => {
  const chartGroup = new ChartGroup();
  const draw = vi.fn();
  chartGroup.onFlush(draw);
  chartGroup.pause(true);
  chartGroup.request();
  nextFrame();
  expect(draw).toHaveBeenCalledTimes(1);
  chartGroup.pause(false);
  expect(draw).toHaveBeenCalledTimes(2);
});

it('notifies crosshair listeners until they unsubscribe', () => {
  const chartGroup = new ChartGroup();
  const moved = vi.fn();
  const stop = chartGroup.onCrosshair(moved);
  chartGroup.moveCrosshair(1.5);
  chartGroup.moveCrosshair(1.5);
  stop();
  chartGroup.moveCrosshair(null);
  expect(moved).toHaveBeenCalledTimes(1);
});
