// Geometry of the depth gauge. I/Os and bytes are two flows through the host's layers, each
// with its own scale. The counts are in `model/gauge`.

import type { Gauge, Layer, LayerFlow } from '../api';
import { LAYERS } from '../model/gauge/layers';

/** Height of the drawing, in pixels, like all lengths in this file. */
export const HEIGHT = 420;
/** In narrower elements, the drawing is scaled down. */
export const MIN_WIDTH = 290;
/** y of each layer's top edge, followed by the last layer's bottom edge. */
export const DEPTHS = [0, 56, 178, 300, HEIGHT] as const;
/** y at which the flows start. */
export const TOP = 32;
/** Color tokens for the layers. */
export const LAYER_COLORS = {
  application: 'app',
  page_cache: 'cache',
  filesystem: 'block',
  device: 'device',
} as const;

/** x of the lead's rope, and space to its right. The layers' text is to its left. */
const MIN_ROPE_X = 116;
const MAX_ROPE_X = 190;
const ROPE_SHARE = 0.36;
const ROPE_GAP = 12;
/** Width of the largest count's flow, and space between flows. */
const MAX_FLOW_WIDTH = 160;
const FLOW_GAP = 8;
/** Minimum width of a flow, so that small counts are visible. */
const MIN_FLOW_WIDTH = 2;
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

interface FlowPosition {
  kind: keyof LayerFlow;
  /** x of the center. */
  x: number;
  /** Width of the largest count. */
  full: number;
}

export interface FlowShape extends FlowPosition {
  paths: FlowPath[];
  /** Column of foreign I/O next to the flow; null if there is none. */
  foreign: string | null;
}

/** x of the lead's rope in a drawing of this width. */
export const ropeX = (width: number): number =>
  Math.min(MAX_ROPE_X, Math.max(MIN_ROPE_X, width * ROPE_SHARE));

/** The flows in a drawing of this width. */
export function flowShapes(gauge: Gauge, width = MIN_WIDTH): FlowShape[] {
  const left = ropeX(width) + ROPE_GAP;
  const column = (width - left) / 2;
  const space = column - FOREIGN_GAP - FOREIGN_WIDTH - FLOW_GAP / 2;
  const full = Math.min(MAX_FLOW_WIDTH, space - FLOW_GAP);
  return (['ios', 'bytes'] as const).map((kind, index) => {
    const flow = { kind, x: left + index * column + space / 2, full };
    return { ...flow, paths: flowPaths(gauge, flow), foreign: foreignPath(gauge, flow) };
  });
}

/** The largest count of any layer. It is drawn at full width. */
const maxOf = ({ issued, past_cache, reached }: Gauge, kind: keyof LayerFlow) =>
  Math.max(issued[kind], past_cache?.[kind] ?? 0, reached?.[kind] ?? 0);

function flowPaths(gauge: Gauge, { kind, x, full }: FlowPosition): FlowPath[] {
  const { bypassed } = gauge;
  const issued = gauge.issued[kind];
  if (issued === 0) return [];
  const scale = full / maxOf(gauge, kind);
  const width = (n: number) => (n > 0 ? Math.max(MIN_FLOW_WIDTH, scale * n) : 0);
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
function foreignPath(gauge: Gauge, { kind, x, full }: FlowPosition): string | null {
  const count = gauge.foreign?.[kind] ?? 0;
  if (count === 0) return null;
  const share = count / Math.max(maxOf(gauge, kind), count);
  const width = Math.max(MIN_FLOW_WIDTH, FOREIGN_WIDTH * share);
  const center = x + full / 2 + FOREIGN_GAP + FOREIGN_WIDTH / 2;
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
