// A finished run's time series, including its heat map rows.
import { seriesQuery } from '../../api/queries';
import { MAX_POINTS } from '../../model/series/time-series';

/** `range`: in ms since the start of the measurement; by default, the whole measurement. */
export const runSeriesQuery = (n: number, range: { from_ms?: number; to_ms?: number } = {}) =>
  seriesQuery(n, { ...range, points: MAX_POINTS, latency_rows: true });
