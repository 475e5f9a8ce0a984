// Geometry of a forest plot: one row per metric with its change, interval and threshold. All rows
// share one percentage scale.
import type { Comparison } from '../../api';

export interface ForestScale {
  /** Percentages at the ends of the scale, which is symmetric around 0. */
  limit: number;
  threshold: number;
}

export interface ForestMark {
  /** Positions from 0 (left) to 1 (right), clipped at the ends. */
  point: number;
  low: number;
  high: number;
  /**
   * Percentage to show at an arrow, if the mark continues beyond that end: the change, or a bound
   * of its interval.
   */
  beyondLow: number | null;
  beyondHigh: number | null;
}

/** Minimum plot range on each side, in thresholds. */
const MIN_THRESHOLDS = 2.5;
/** Larger changes are clipped, so that small changes stay visible. */
const MAX_PERCENT = 60;

/** Scales the plot by the threshold that most metrics share. Each row shows its own threshold. */
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
