import { expect, it } from 'vitest';
import type { Series } from '../../api';
import { rowAt } from '../series/heat-map';
import { seriesHeat } from './heat-source';

const series = (change: Partial<Series>): Series => ({
  run: 1,
  from_ms: 0,
  to_ms: 4000,
  bucket_ms: 2000,
  t_ms: [2000, 4000],
  columns: [],
  ...change,
});

it('makes a column from each bucket of the server', () => {
  const rows: [number, number][] = [
    [rowAt(1000), 5],
    [rowAt(4000), 1],
  ];
  const heat = seriesHeat(series({ latency_rows: [rows, []] }));
  expect(heat.columns()).toEqual([
    { begin_ms: 0, end_ms: 2000, counts: new Map(rows) },
    { begin_ms: 2000, end_ms: 4000, counts: new Map() },
  ]);
  expect(heat.originMs()).toBe(0);
});

it('has no columns without latency rows', () => {
  expect(seriesHeat(series({})).columns()).toEqual([]);
});
