// Line styles: a color and a dash pattern, so that lines are distinguishable without color.
// Compared runs use the tokens `run-…`, because the layer colors show which layer served an I/O.

export type Dash = 'dashed' | 'dotted' | 'dash-dot';

const DASH_PATTERNS: Record<Dash, number[]> = {
  dashed: [6, 4],
  dotted: [2, 3],
  'dash-dot': [12, 3, 2, 3],
};

/** Dash and gap lengths in pixels; empty for a solid line. */
export const dashPattern = (dash: Dash | undefined): number[] => (dash ? DASH_PATTERNS[dash] : []);

/** Shapes of points, as named in Chart.js. */
export type PointMark = 'circle' | 'triangle' | 'rect' | 'rectRot' | 'cross' | 'crossRot';

/** SVG paths in a square of ten units. The crosses have a stroke but no fill. */
export const POINT_PATHS: Record<PointMark, string> = {
  circle: 'M1 5a4 4 0 1 0 8 0a4 4 0 1 0-8 0',
  triangle: 'M5 1L9.5 9H.5Z',
  rect: 'M1.5 1.5H8.5V8.5H1.5Z',
  rectRot: 'M5 0L10 5L5 10L0 5Z',
  cross: 'M5 0V10M0 5H10',
  crossRot: 'M1 1L9 9M9 1L1 9',
};

export const isCross = (point: PointMark): boolean => point === 'cross' || point === 'crossRot';

export interface LineStyle {
  /** A color token. */
  color: string;
  dash?: Dash;
  /** A style for points without a line. */
  point?: PointMark;
}

/**
 * Styles for compared runs. If two styles share a dash pattern, one of them is `run-ink`, so that
 * they differ in lightness.
 */
export const LINE_STYLES: readonly LineStyle[] = [
  { color: 'run-ink' },
  { color: 'run-rose', dash: 'dashed' },
  { color: 'run-gray', dash: 'dotted' },
  { color: 'run-ink', dash: 'dash-dot' },
  { color: 'run-rose' },
  { color: 'run-ink', dash: 'dashed' },
  { color: 'run-gray', dash: 'dash-dot' },
  { color: 'run-ink', dash: 'dotted' },
];

export const lineStyle = (index: number): LineStyle =>
  LINE_STYLES[index % LINE_STYLES.length] ?? { color: 'run-ink' };
