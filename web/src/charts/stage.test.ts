import { beforeEach, expect, it, vi } from 'vitest';
import { Stage } from './stage';

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
  const stage = new Stage();
  const draw = vi.fn();
  stage.onFlush(draw);
  for (let i = 0; i < 50; i += 1) stage.request();
  expect(draw).not.toHaveBeenCalled();
  nextFrame();
  expect(draw).toHaveBeenCalledTimes(1);
  stage.request();
  nextFrame();
  expect(stage.version).toBe(2);
});

it('rests after a slow drawing, and draws what came meanwhile', () => {
  const stage = new Stage();
  const draw = vi.fn(() => {
    now += 20;
  });
  stage.onFlush(draw);
  stage.request();
  nextFrame();
  stage.request();
  nextFrame();
  expect(draw).toHaveBeenCalledTimes(1);
  for (let i = 0; i < 4; i += 1) nextFrame();
  expect(draw).toHaveBeenCalledTimes(2);
});

it('draws nothing while paused, and catches up when resumed', () => {
  const stage = new Stage();
  const draw = vi.fn();
  stage.onFlush(draw);
  stage.pause(true);
  stage.request();
  nextFrame();
  expect(draw).toHaveBeenCalledTimes(1);
  stage.pause(false);
  expect(draw).toHaveBeenCalledTimes(2);
});

it('moves one crosshair for all, and stops when asked', () => {
  const stage = new Stage();
  const moved = vi.fn();
  const stop = stage.onPoint(moved);
  stage.point(1.5);
  stage.point(1.5);
  stop();
  stage.point(null);
  expect(moved).toHaveBeenCalledTimes(1);
});
