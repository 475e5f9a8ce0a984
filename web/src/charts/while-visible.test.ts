import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ChartGroup } from './chart-group';
import { pixelMs, whileVisible } from './while-visible';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('IntersectionObserver', undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('redraws when a pixel can have changed, and never drops the last change', () => {
  const group = new ChartGroup();
  const redraw = vi.fn();
  const stop = whileVisible(null, redraw, group, () => 500);
  for (let i = 0; i < 10; i += 1) {
    group.pause(false); // Flushes.
    vi.advanceTimersByTime(100);
  }
  // At 0, 500 and 1000 ms; the last one shows the flush at 900 ms.
  expect(redraw).toHaveBeenCalledTimes(3);
  vi.advanceTimersByTime(1000);
  expect(redraw).toHaveBeenCalledTimes(3);
  stop();
});

it('redraws at once after zooming, and not after it has stopped', () => {
  const group = new ChartGroup();
  const redraw = vi.fn();
  const stop = whileVisible(null, redraw, group, () => 500);
  group.pause(false);
  group.zoomTo({ from: 0, to: 1 });
  expect(redraw).toHaveBeenCalledTimes(2);
  group.pause(false);
  stop();
  vi.advanceTimersByTime(1000);
  expect(redraw).toHaveBeenCalledTimes(2);
});

it('draws long runs about once a second, and short ranges at every sample', () => {
  expect(pixelMs({ from: 0, to: 300 }, 430)).toBeCloseTo(697.7, 1);
  expect(pixelMs({ from: 0, to: 10 }, 430)).toBeLessThan(100);
  expect(pixelMs({ from: 0, to: 36_000 }, 430)).toBe(1000);
});
