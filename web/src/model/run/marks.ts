// A run's annotations as marks in its charts.
import type { Annotation } from '../../api';

export interface Mark {
  /** Seconds since the start of the measurement. */
  seconds: number;
  /** The annotation's position in the list, starting at 1. */
  label: string;
  text: string;
}

/** `origin_ms`: start of the measurement, in ms since the start of the run. */
export const marksOf = (annotations: readonly Annotation[], origin_ms: number): Mark[] =>
  annotations.map(({ t_ms, text }, index) => ({
    seconds: (t_ms - origin_ms) / 1000,
    label: String(index + 1),
    text,
  }));
