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

it('draws once a frame however many events come', () => {
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

it('rests after a slow drawing, and draws what came meanwhile', () => {
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

it('draws nothing while paused, and catches up when resumed', () => {
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

it('moves one crosshair for all, and stops when asked', () => {
  const chartGroup = new ChartGroup();
  const moved = vi.fn();
  const stop = chartGroup.onPoint(moved);
  chartGroup.point(1.5);
  chartGroup.point(1.5);
  stop();
  chartGroup.point(null);
  expect(moved).toHaveBeenCalledTimes(1);
});
