// Trend chart scales, in pixels.
import type { Trend, TrendPoint } from '../api';
import { valueRange } from '../model/trend/geometry';

export const HEIGHT = 320;
export const MARGIN_LEFT = 74;
export const MARGIN_RIGHT = 14;
/** Space for change point labels. */
export const MARGIN_TOP = 34;
export const MARGIN_BOTTOM = 28;
export interface Plot {
  width: number;
  /** Distance between two groups, in pixels. */
  step: number;
  x: (index: number) => number;
  y: (value: number) => number;
  low: number;
  high: number;
}

export function scales(trend: Trend, points: readonly TrendPoint[], width: number): Plot {
  const { low, high } = valueRange(trend, points);
  const step = (width - MARGIN_LEFT - MARGIN_RIGHT) / Math.max(1, points.length);
  const y = (value: number) => {
    const share = (value - low) / (high - low);
    return (
      HEIGHT -
      MARGIN_BOTTOM -
      Math.min(1, Math.max(0, share)) * (HEIGHT - MARGIN_TOP - MARGIN_BOTTOM)
    );
  };
  return { width, step, x: (index) => MARGIN_LEFT + (index + 0.5) * step, y, low, high };
}

export interface PlotProps {
  plot: Plot;
}
export interface PointsProps extends PlotProps {
  points: readonly TrendPoint[];
}
