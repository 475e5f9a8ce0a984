// Geometry of the depth gauge. I/Os and bytes are two flows through the host's layers, each
// with its own scale. The counts are in `model/gauge`.

import type { Gauge, Layer, LayerFlow } from '../api';
import { LAYERS } from '../model/gauge/layers';

/** Size of the drawing, in SVG user units, like all lengths in this file. */
export const WIDTH = 356;
export const HEIGHT = 500;
/** y of each layer's top edge, followed by the last layer's bottom edge. */
export const DEPTHS = [0, 64, 216, 368, HEIGHT] as const;
/** x of the lead's rope. */
export const ROPE_X = 128;
/** y at which the flows start. */
export const TOP = 32;
/** Color tokens for the layers. */
export const LAYER_COLORS = {
  application: 'app',
  page_cache: 'cache',
  filesystem: 'block',
  device: 'device',
} as const;

/** x of each flow's center. */
const CENTERS = { ios: 196, bytes: 300 };
const FULL_WIDTH = 76;
/** Minimum width of a flow, so that small counts are visible. */
const MIN_WIDTH = 2;
/** Maximum width of the foreign I/O column, and its distance from the flow. */
const FOREIGN_WIDTH = 12;
const FOREIGN_GAP = 5;
/** Distance from the end of a flow in the device to the bottom of the drawing. */
const BOTTOM_MARGIN = 34;
/** Length of a flow that ends at an unknown depth. */
const UNKNOWN_LENGTH = 46;

interface FlowPath {
  d: string;
  color: (typeof LAYER_COLORS)[Layer];
  /** Drawn as an outline, because the layer was bypassed. */
  bypassed?: boolean;
  /** The layers below have no counters. */
  unknown?: boolean;
}

export interface FlowShape {
  kind: keyof LayerFlow;
  x: number;
  paths: FlowPath[];
  /** Column of foreign I/O next to the flow; null if there is none. */
  foreign: string | null;
}

export function flowShapes(gauge: Gauge): FlowShape[] {
  return (['ios', 'bytes'] as const).map((kind) => {
    const x = CENTERS[kind];
    return { kind, x, paths: flowPaths(gauge, kind, x), foreign: foreignPath(gauge, kind, x) };
  });
}

/** The largest count of any layer. It is drawn at full width. */
const maxOf = ({ issued, past_cache, reached }: Gauge, kind: keyof LayerFlow) =>
  Math.max(issued[kind], past_cache?.[kind] ?? 0, reached?.[kind] ?? 0);

function flowPaths(gauge: Gauge, kind: keyof LayerFlow, x: number): FlowPath[] {
  const { bypassed } = gauge;
  const issued = gauge.issued[kind];
  if (issued === 0) return [];
  const scale = FULL_WIDTH / maxOf(gauge, kind);
  const width = (n: number) => (n > 0 ? Math.max(MIN_WIDTH, scale * n) : 0);
  const [, cache, block, device] = DEPTHS;
  const top = width(issued);
  const paths: FlowPath[] = [{ d: column(x, top, TOP, cache), color: 'app' }];
  if (!gauge.past_cache || gauge.served_by === 'application') return paths;

  const middle = width(gauge.past_cache[kind]);
  paths.push({ d: funnel(x, top, middle, cache, block), color: 'cache', bypassed });
  if (middle === 0) return paths;
  if (!gauge.reached) {
    const d = column(x, middle, block, block + UNKNOWN_LENGTH);
    return [...paths, { d, color: 'block', unknown: true }];
  }

  const bottom = width(gauge.reached[kind]);
  paths.push({ d: funnel(x, middle, bottom, block, device), color: 'block' });
  if (bottom > 0) paths.push({ d: basin(x, bottom, device), color: 'device' });
  return paths;
}

/** Foreign I/O starts in the block layer and has the same scale as the flow. */
function foreignPath(gauge: Gauge, kind: keyof LayerFlow, x: number): string | null {
  const count = gauge.foreign?.[kind] ?? 0;
  if (count === 0) return null;
  const share = count / Math.max(maxOf(gauge, kind), count);
  const width = Math.max(MIN_WIDTH, FOREIGN_WIDTH * share);
  const center = x + FULL_WIDTH / 2 + FOREIGN_GAP + FOREIGN_WIDTH / 2;
  return column(center, width, (DEPTHS[2] + DEPTHS[3]) / 2, HEIGHT - BOTTOM_MARGIN);
}

const column = (x: number, width: number, top: number, bottom: number) =>
  `M${x - width / 2} ${top}H${x + width / 2}V${bottom}H${x - width / 2}Z`;

/** A transition between two widths. If the lower width is 0, it is a rounded end. */
function funnel(x: number, from: number, to: number, top: number, bottom: number): string {
  const left = x - from / 2;
  const right = x + from / 2;
  if (to === 0) return `M${left} ${top}C${left} ${top + 74},${right} ${top + 74},${right} ${top}Z`;
  const middle = (top + bottom) / 2;
  const l = x - to / 2;
  const r = x + to / 2;
  return `M${left} ${top}C${left} ${middle},${l} ${middle},${l} ${bottom}H${r}C${r} ${middle},${right} ${middle},${right} ${top}Z`;
}

/** The rounded end of a flow, inside the device. */
function basin(x: number, width: number, top: number): string {
  const bottom = HEIGHT - BOTTOM_MARGIN;
  const left = x - width / 2;
  const right = x + width / 2;
  return `M${left} ${top}V${bottom}Q${x} ${bottom + 22} ${right} ${bottom}V${top}Z`;
}

/**
 * y of the lead: the middle of the layer that served the most I/Os, below the layer's label. Null
 * if the layer is unknown.
 */
export function leadDepth({ issued, served_by }: Gauge): number | null {
  if (issued.ios === 0) return TOP + 14;
  if (!served_by) return null;
  const layer = LAYERS.indexOf(served_by);
  const top = DEPTHS[layer] ?? 0;
  const bottom = DEPTHS[layer + 1] ?? HEIGHT;
  return (top + bottom) / 2 + (layer === 0 ? 8 : 18);
}
