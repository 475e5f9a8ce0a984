import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ChartGroup } from './chart-group';
import { whileVisible } from './while-visible';

let show: (isIntersecting: boolean) => void;

beforeEach(() => {
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(callback: (entries: { isIntersecting: boolean }[]) => void) {
        show = (isIntersecting) => callback([{ isIntersecting }]);
      }
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

/** Flushes immediately. */
const flush = (group: ChartGroup) => group.pause(false);

it('redraws at every flush while it is visible', () => {
  const group = new ChartGroup();
  const redraw = vi.fn();
  const stop = whileVisible(document.body, redraw, group);
  show(true);
  flush(group);
  flush(group);
  stop();
  flush(group);
  expect(redraw).toHaveBeenCalledTimes(3);
});

it('redraws a chart that becomes visible only if it has missed a flush', () => {
  const group = new ChartGroup();
  const redraw = vi.fn();
  whileVisible(document.body, redraw, group);
  show(true);
  flush(group);
  redraw.mockClear();
  show(false);
  show(true);
  expect(redraw).not.toHaveBeenCalled();
  show(false);
  flush(group);
  flush(group);
  expect(redraw).not.toHaveBeenCalled();
  show(true);
  expect(redraw).toHaveBeenCalledTimes(1);
});
