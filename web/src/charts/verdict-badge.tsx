// The colour of a layer, and a verdict as a badge in it.
import type { Layer } from '../model/gauge/gauge';
import type { Badge as VerdictWord } from '../model/run/verdict';
import { Badge, type Tone } from '../ui/parts';
import { LAYER_COLORS } from './gauge-shape';

/** The tone of a layer; null is neutral. */
export const toneOf = (layer: Layer | null): Tone => (layer === null ? null : LAYER_COLORS[layer]);

/** The badge. */
export function VerdictBadge({ badge: { label, layer } }: { badge: VerdictWord }) {
  return <Badge tone={toneOf(layer)}>{label}</Badge>;
}
