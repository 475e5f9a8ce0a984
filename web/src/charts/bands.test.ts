import { expect, it } from 'vitest';
import type { Band } from '../model/fold/missing-time';
import { bandAnnotations, bandDescriptions, bandsOfPanel } from './bands';

const band = (kind: Band['kind'], from: number, to: number): Band => ({
  kind,
  label: `${kind} for ${to - from} s`,
  short: kind,
  from,
  to,
});

const layout = (to: number) => ({ range: { from: 0, to }, width: 160 });

it('labels bands if there is room', () => {
  const bands = [band('stall', 1, 2), band('pause', 4, 9)];
  const labels = (to: number) =>
    bandAnnotations(bands, layout(to)).map(({ label }) => label?.display && label.content);
  expect(labels(10)).toEqual([false, 'pause for 5 s']);
  expect(labels(5)).toEqual(['stall', 'pause']);
  expect(labels(2)).toEqual(['stall for 1 s', false]);
});

it('does not distinguish stalls and pauses by color alone', () => {
  const bands = [band('stall', 1, 2), band('pause', 4, 9)];
  const [stall, pause] = bandAnnotations(bands, layout(10));
  expect(stall?.borderDash).toEqual([]);
  expect(pause?.borderDash).not.toEqual([]);
});

it('names the first bands for screen readers', () => {
  const bands = [1, 2, 3, 4, 5].map((from) => band('stall', from, from + 0.5));
  expect(bandDescriptions(bands.slice(0, 1))).toEqual(['stall for 0.5 s, from 1.0 s']);
  expect(bandDescriptions(bands)).toHaveLength(4);
  expect(bandDescriptions(bands).at(-1)).toBe('2 more');
  expect(bandDescriptions([])).toEqual([]);
});

it('shows a window only in the chart of its metric', () => {
  const bands = [band('stall', 1, 2), { ...band('window', 4, 9), panel: 'iops' }];
  expect(bandsOfPanel(bands, 'iops')).toEqual(bands);
  expect(bandsOfPanel(bands, 'latency')).toEqual(bands.slice(0, 1));
});
