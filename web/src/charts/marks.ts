// A run's annotations in a time chart, drawn as numbered vertical lines.
import type { AnnotationOptions } from 'chartjs-plugin-annotation';
import type { Mark } from '../model/run/marks';
import { token } from './chart-js';

export function markAnnotations(marks: readonly Mark[]): AnnotationOptions<'line'>[] {
  return marks.map(({ seconds, label }) => ({
    type: 'line',
    scaleID: 'x',
    value: seconds,
    borderColor: token('text'),
    borderDash: [2, 2],
    borderWidth: 1,
    label: {
      display: true,
      content: label,
      position: 'start',
      color: token('surface'),
      backgroundColor: token('text'),
      borderRadius: 6,
      font: { size: 10, weight: 'bold' },
      padding: { x: 4, y: 1 },
      z: 1,
    },
  }));
}

/**
 * Descriptions of the marks for screen readers, such as `Annotation 1 at 2.5 s: caches dropped`.
 */
export const markDescriptions = (marks: readonly Mark[]): string[] =>
  marks.map(
    ({ seconds, label, text }) => `Annotation ${label} at ${seconds.toFixed(1)} s: ${text}`,
  );
