import { expect, it } from 'vitest';
import { findExtent, heatColumn, intensity, rateOf, rowAt, rowStart } from './heat-map';
import { bucketAt } from './histogram';
import type { Window } from './window';

const counts = (...lat_ns: [number, number][]) => ({ ios: 0, bytes: 0, lat_ns });
const window = (end_ms: number, length_ms: number, part: Partial<Window>) =>
  ({
    end_ms,
    length_ms,
    read: counts(),
    write: counts(),
    trim: counts(),
    ...part,
  }) as unknown as Window;

it('adds all directions to rows of a quarter of a doubling', () => {
  const column = heatColumn(
    window(300, 100, {
      read: counts([bucketAt(100_000), 5], [bucketAt(8_000_000), 1]),
      write: counts([bucketAt(100_000), 2]),
    }),
  );
  expect(column).toMatchObject({ begin_ms: 200, end_ms: 300 });
  expect([...column.counts]).toEqual([
    [rowAt(100_000), 7],
    [rowAt(8_000_000), 1],
  ]);
  expect(rowStart(rowAt(100_000))).toBeLessThanOrEqual(100_000);
  expect(rowStart(rowAt(100_000) + 1)).toBeGreaterThan(100_000);
});

it('compares windows of different lengths by rate', () => {
  const short = heatColumn(window(100, 100, { read: counts([bucketAt(1000), 100]) }));
  const long = heatColumn(window(300, 200, { read: counts([bucketAt(4000), 100]) }));
  expect(findExtent([short, long])).toEqual({ first: rowAt(1000), last: rowAt(4000), highest: 1 });
  expect(rateOf(long, 100)).toBe(0.5);
  expect(findExtent([heatColumn(window(100, 100, {}))])).toBeNull();
});

it('shows single I/Os, and brighter cells for higher rates', () => {
  expect(intensity(0, 100, 0.01)).toBe(0);
  expect(intensity(0.01, 100, 0.01)).toBeGreaterThan(0.1);
  expect(intensity(1, 100, 0.01)).toBeGreaterThan(intensity(0.01, 100, 0.01));
  expect(intensity(100, 100, 0.01)).toBe(1);
});
