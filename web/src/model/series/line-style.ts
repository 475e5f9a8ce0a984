// Line styles: a color and a dash, so that lines are distinguishable without color. Compared runs
// use the tokens `run-…`, because the layer colors show which layer served an I/O.

export type Dash = 'dashed' | 'dotted' | 'dash-dot';

const DASH_PATTERNS: Record<Dash, number[]> = {
  dashed: [6, 4],
  dotted: [2, 3],
  'dash-dot': [12, 3, 2, 3],
};

/** Dash and gap lengths in pixels; empty for a solid line. */
export const dashPattern = (dash: Dash | undefined): number[] => (dash ? DASH_PATTERNS[dash] : []);

export interface LineStyle {
  /** A color token. */
  color: string;
  dash?: Dash;
}

/**
 * Styles of compared runs. Of two styles with the same dash, one is `run-ink`, so that they differ
 * in lightness.
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
