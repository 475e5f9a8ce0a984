// Layer colors, and verdict badges.
import type { Layer } from '../api';
import type { Badge as VerdictLabel } from '../model/run/verdict';
import { Badge, type Tone } from '../ui/parts';
import { LAYER_COLORS } from './gauge-shape';

export const toneOf = (layer: Layer | null): Tone => layer && LAYER_COLORS[layer];

export function VerdictBadge({ badge: { label, layer } }: { badge: VerdictLabel }) {
  return <Badge tone={toneOf(layer)}>{label}</Badge>;
}
