// Geometry of a forest plot: one row per metric with its change, interval and threshold, all on one
// scale of percentages.
import type { Comparison } from '../../api';

export interface ForestScale {
  /** Percentages at the left and right end; symmetric around 0. */
  limit: number;
  threshold: number;
}

export interface ForestMark {
  /** Positions from 0 (left) to 1 (right), clipped at the ends. */
  point: number;
  low: number;
  high: number;
  /** The percentage at an arrow, if the mark continues beyond that end: the change or its bound. */
  beyondLow: number | null;
  beyondHigh: number | null;
}

/** The plot shows at least this many thresholds on each side. */
const MIN_THRESHOLDS = 2.5;
/** Larger changes are clipped, so that small ones stay visible. */
const MAX_PERCENT = 60;

/** Most metrics share this threshold; each row uses its own. */
export function forestScale({ metrics, threshold_percent }: Comparison, group: number) {
  const tested = metrics.filter(({ changes }) => changes[group]?.verdict);
  const thresholds = tested.map((metric) => metric.threshold_percent);
  const widest = Math.max(threshold_percent, ...thresholds);
  const bounds = metrics.flatMap(({ changes }) => {
    const change = changes[group];
    if (!change?.verdict) return [];
    const { interval_percent: interval, percent } = change;
    return interval ? [interval.low, interval.high] : [percent];
  });
  const largest = Math.max(0, ...bounds.map(Math.abs)) * 1.1;
  const limit = Math.max(widest * MIN_THRESHOLDS, Math.min(largest, MAX_PERCENT));
  return { limit, threshold: threshold_percent };
}

export function forestMark(
  { limit }: ForestScale,
  percent: number,
  interval: { low: number; high: number } | null | undefined,
): ForestMark {
  const position = (value: number) => Math.min(1, Math.max(0, (value + limit) / (2 * limit)));
  const { low, high } = interval ?? { low: percent, high: percent };
  const beyond = (isBeyond: (value: number) => boolean, bound: number) =>
    [percent, bound].find(isBeyond) ?? null;
  return {
    point: position(percent),
    low: position(low),
    high: position(high),
    beyondLow: beyond((value) => value < -limit, low),
    beyondHigh: beyond((value) => value > limit, high),
  };
}
