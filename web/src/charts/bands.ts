// Labeled bands in a time chart: storage stalls, runner pauses, steady-state windows, and lines at
// level changes.
import type { AnnotationOptions } from 'chartjs-plugin-annotation';
import type { Band } from '../model/fold/missing-time';
import type { Range } from './chart-group';
import { token, withAlpha } from './chart-js';

/** Average character width in a label, in pixels. */
const CHARACTER_WIDTH = 5.8;
/** Maximum number of bands in the accessible name. */
const MAX_NAMED = 3;

const STYLES = {
  stall: { color: 'bad', text: 'bad-text', dash: [] },
  pause: { color: 'mute', text: 'text', dash: [3, 3] },
  window: { color: 'app', text: 'app-text', dash: [8, 3] },
  change: { color: 'bad', text: 'bad-text', dash: [2, 3] },
} as const;

interface BandLayout {
  range: Range;
  /** Width of the chart in pixels. Bands narrower than their label are not labeled. */
  width: number;
}

export function bandAnnotations(
  bands: readonly Band[],
  { range: { from, to }, width }: BandLayout,
): AnnotationOptions<'box'>[] {
  return bands.map((band) => {
    const { color, text, dash } = STYLES[band.kind];
    const visible = (Math.min(band.to, to) - Math.max(band.from, from)) / (to - from);
    const fits = (text: string) => visible * width >= text.length * CHARACTER_WIDTH;
    return {
      type: 'box',
      xScaleID: 'x',
      xMin: band.from,
      xMax: band.to,
      drawTime: 'beforeDatasetsDraw',
      backgroundColor: withAlpha(color, 0.14),
      borderColor: token(color),
      borderWidth: 1,
      borderDash: [...dash],
      label: {
        display: fits(band.short),
        content: fits(band.label) ? band.label : band.short,
        drawTime: 'afterDatasetsDraw',
        position: { x: 'center', y: 'start' },
        color: token(text),
        textStrokeColor: token('surface'),
        textStrokeWidth: 4,
        font: { size: 10.5, weight: 'normal' },
        padding: 3,
      },
    };
  });
}

export const bandsOfPanel = (bands: readonly Band[], key: string) =>
  bands.filter(({ panel }) => panel === undefined || panel === key);

/** Descriptions of the bands for screen readers, such as `No I/O completed for 5.2 s, from 1.0 s`. */
export function bandDescriptions(bands: readonly Band[]): string[] {
  const named = bands.slice(0, MAX_NAMED).map(({ label, from }) => {
    return `${label}, from ${from.toFixed(1)} s`;
  });
  const rest = bands.length - named.length;
  return rest > 0 ? [...named, `${rest} more`] : named;
}
