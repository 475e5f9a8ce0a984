// How lines are told apart: a colour and a dash, so that none rests on its colour alone. Runs laid over each other have
// colours of their own (tokens `run-…`): those of the layers say where an I/O was answered, and a run is no layer.

/** A way to break a line; a line without one is solid. */
export type Dash = 'dashed' | 'dotted' | 'dash-dot';

/** Lengths of stroke and gap in pixels. */
const DASH_PATTERNS: Record<Dash, number[]> = {
  dashed: [6, 4],
  dotted: [2, 3],
  'dash-dot': [12, 3, 2, 3],
};

/** The stroke and gap lengths of a line in pixels; empty when it is solid. */
export const dashPattern = (dash: Dash | undefined): number[] => (dash ? DASH_PATTERNS[dash] : []);

/** How a line is drawn. */
export interface LineStyle {
  /** Name of the colour token. */
  color: string;
  dash?: Dash;
}

/** How each run is drawn. Of two with the same dash one is in ink, far lighter or darker than the other in any eye. */
export const LINE_STYLES: readonly LineStyle[] = [
  { color: 'run-ink' },
  { color: 'run-rose', dash: 'dashed' },
  { color: 'run-grey', dash: 'dotted' },
  { color: 'run-ink', dash: 'dash-dot' },
  { color: 'run-rose' },
  { color: 'run-ink', dash: 'dashed' },
  { color: 'run-grey', dash: 'dash-dot' },
  { color: 'run-ink', dash: 'dotted' },
];

/** How the run at a place is drawn. */
export const lineStyle = (place: number): LineStyle =>
  LINE_STYLES[place % LINE_STYLES.length] ?? { color: 'run-ink' };
