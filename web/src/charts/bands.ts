// Labeled bands of a time chart: stalls of the storage and pauses of the runner.
import type { AnnotationOptions } from 'chartjs-plugin-annotation';
import type { Band } from '../model/fold/missing-time';
import type { Range } from './chart-group';
import { token, withAlpha } from './chart-js';

/** Narrower bands have no label, as a share of the range. */
const MIN_LABELED = 0.3;
/** Further bands are not in the accessible name. */
const MAX_NAMED = 3;

export function bandAnnotations(
  bands: readonly Band[],
  { from, to }: Range,
  labelPosition: 'start' | 'center',
): AnnotationOptions<'box'>[] {
  return bands.map((band) => {
    const isStall = band.kind === 'stall';
    const visible = Math.min(band.to, to) - Math.max(band.from, from);
    return {
      type: 'box',
      xScaleID: 'x',
      xMin: band.from,
      xMax: band.to,
      drawTime: 'beforeDatasetsDraw',
      backgroundColor: withAlpha(isStall ? 'bad' : 'mute', 0.14),
      borderColor: token(isStall ? 'bad' : 'mute'),
      borderWidth: 1,
      borderDash: isStall ? [] : [3, 3],
      label: {
        display: visible >= (to - from) * MIN_LABELED,
        content: band.label,
        drawTime: 'afterDatasetsDraw',
        position: { x: 'center', y: labelPosition },
        color: token(isStall ? 'bad-text' : 'text'),
        textStrokeColor: token('surface'),
        textStrokeWidth: 4,
        font: { size: 10.5, weight: 'normal' },
        padding: 3,
      },
    };
  });
}

/** Bands for screen readers: `No I/O completed 5.2 s, from 1.0 s`. */
export function bandTexts(bands: readonly Band[]): string[] {
  const named = bands.slice(0, MAX_NAMED).map(({ label, from }) => {
    return `${label}, from ${from.toFixed(1)} s`;
  });
  const rest = bands.length - named.length;
  return rest > 0 ? [...named, `${rest} more`] : named;
}
