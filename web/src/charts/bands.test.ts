import { expect, it } from 'vitest';
import type { Band } from '../model/fold/missing-time';
import { bandAnnotations, bandTexts } from './bands';

const band = (kind: Band['kind'], from: number, to: number): Band => ({
  kind,
  label: `${kind} ${to - from} s`,
  from,
  to,
});

it('labels bands that are wide enough', () => {
  const bands = [band('stall', 1, 2), band('pause', 4, 9)];
  const labels = (to: number) =>
    bandAnnotations(bands, { from: 0, to }, 'start').map(({ label }) => label?.display);
  expect(labels(10)).toEqual([false, true]);
  expect(labels(3)).toEqual([true, false]);
});

it('does not distinguish stalls and pauses by color alone', () => {
  const bands = [band('stall', 1, 2), band('pause', 4, 9)];
  const [stall, pause] = bandAnnotations(bands, { from: 0, to: 10 }, 'center');
  expect(stall?.borderDash).toEqual([]);
  expect(pause?.borderDash).not.toEqual([]);
});

it('names the first bands for screen readers', () => {
  const bands = [1, 2, 3, 4, 5].map((from) => band('stall', from, from + 0.5));
  expect(bandTexts(bands.slice(0, 1))).toEqual(['stall 0.5 s, from 1.0 s']);
  expect(bandTexts(bands)).toHaveLength(4);
  expect(bandTexts(bands).at(-1)).toBe('2 more');
  expect(bandTexts([])).toEqual([]);
});
