import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ChartGroup, redrawIntervalMs } from './chart-group';

let frames: FrameRequestCallback[];
let now: number;
const nextFrame = () => {
  now += 16;
  vi.advanceTimersByTime(16);
  const due = frames;
  frames = [];
  for (const frame of due) frame(0);
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  frames = [];
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  vi.stubGlobal('requestAnimationFrame', (frame: FrameRequestCallback) => frames.push(frame));
});

afterEach(() => {
  vi.useRealTimers();
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
  // The next redraw is due 180 ms after the first one.
  for (let i = 0; i < 9; i += 1) nextFrame();
  expect(draw).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 4; i += 1) nextFrame();
  expect(draw).toHaveBeenCalledTimes(2);
});

it('draws when a pixel could have changed, and never drops the last change', () => {
  const chartGroup = new ChartGroup();
  chartGroup.interval = () => 480;
  const drawn: number[] = [];
  chartGroup.onFlush(() => drawn.push(now));
  for (let frame = 0; frame < 60; frame += 1) {
    if (frame % 6 === 0) chartGroup.request();
    nextFrame();
  }
  expect(drawn).toHaveLength(2);
  for (let frame = 0; frame < 40; frame += 1) nextFrame();
  expect(drawn).toHaveLength(3);
  const [first = 0, second = 0] = drawn;
  expect(second - first).toBeGreaterThanOrEqual(480);
});

it('draws urgent changes in the next frame', () => {
  const chartGroup = new ChartGroup();
  chartGroup.interval = () => 1000;
  const draw = vi.fn();
  chartGroup.onFlush(draw);
  chartGroup.request();
  nextFrame();
  chartGroup.request();
  chartGroup.request(true);
  nextFrame();
  expect(draw).toHaveBeenCalledTimes(2);
  for (let frame = 0; frame < 100; frame += 1) nextFrame();
  expect(draw).toHaveBeenCalledTimes(2);
});

it('draws long runs about once a second, and short ranges at every sample', () => {
  expect(redrawIntervalMs({ from: 0, to: 300 }, 430)).toBeCloseTo(697.7, 1);
  expect(redrawIntervalMs({ from: 0, to: 10 }, 430)).toBeLessThan(100);
  expect(redrawIntervalMs({ from: 0, to: 36_000 }, 430)).toBe(1000);
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
