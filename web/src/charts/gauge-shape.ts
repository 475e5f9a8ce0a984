// The depth gauge as shapes: a section through the host with two flows falling through it, I/Os and bytes, each to its
// own scale. Numbers in, paths out. Not here: what the numbers mean (`model/gauge`).

import type { Gauge } from '../model/gauge/gauge';
import type { LayerFlow } from '../model/gauge/layer-flow';

/** Width and height of the section, in its own units. */
export const WIDTH = 356;
export const HEIGHT = 500;
/** Where each layer begins, and where the last one ends. */
export const DEPTHS = [0, 64, 216, 368, HEIGHT] as const;
/** Where the lead's rope hangs. */
export const ROPE_X = 128;
/** Where the flows begin to fall. */
export const TOP = 32;
/** Colour tokens of the layers. */
export const LAYER_COLORS = ['app', 'cache', 'block', 'device'] as const;

const FULL_WIDTH = 76;
/** How wide others' traffic is drawn at most, and how far beside ours. */
const OTHERS_WIDTH = 12;
const OTHERS_GAP = 5;
/** What is not nothing must be visible. */
const LEAST_WIDTH = 2;
/** How far above the bottom a flow that reaches the device comes to rest. */
const REST = 34;

/** A filled part of a flow. */
interface FlowPath {
  d: string;
  color: (typeof LAYER_COLORS)[number];
  /** Drawn as a mere outline: it passes by without being touched. */
  bypassed: boolean;
  /** Whether what comes below is not known. */
  unknown?: boolean;
}

/** One flow. */
export interface Flow {
  kind: 'ios' | 'bytes';
  x: number;
  paths: FlowPath[];
  /** What the device did for others: a column of its own beside ours; null where it did little. */
  others: string | null;
}

/** The flows of a gauge. */
export function flowsOf(gauge: Gauge): Flow[] {
  return (['ios', 'bytes'] as const).map((kind, i) => {
    const x = i === 0 ? 196 : 300;
    return { kind, x, paths: pathsOf(gauge, kind, x), others: othersOf(gauge, kind, x) };
  });
}

function pathsOf(gauge: Gauge, kind: keyof LayerFlow, x: number): FlowPath[] {
  const { issued, pastCache, reached, bypassed } = gauge;
  const [asked, beyond, below] = [issued[kind], pastCache?.[kind] ?? null, reached?.[kind] ?? null];
  if (asked === 0) return [];
  const most = Math.max(asked, beyond ?? 0, below ?? 0);
  const width = (n: number) => (n > 0 ? Math.max(LEAST_WIDTH, (FULL_WIDTH * n) / most) : 0);
  const [, cache, block, device] = DEPTHS;
  const paths: FlowPath[] = [
    { d: column(x, width(asked), TOP, cache), color: 'app', bypassed: false },
  ];
  if (beyond === null || gauge.servedBy === 0) return paths;
  paths.push({ d: fall(x, width(asked), width(beyond), cache, block), color: 'cache', bypassed });
  if (beyond === 0) return paths;
  if (below === null)
    return [
      ...paths,
      {
        d: column(x, width(beyond), block, block + 46),
        color: 'block',
        bypassed: false,
        unknown: true,
      },
    ];
  paths.push({
    d: fall(x, width(beyond), width(below), block, device),
    color: 'block',
    bypassed: false,
  });
  if (below > 0) paths.push({ d: rest(x, width(below), device), color: 'device', bypassed: false });
  return paths;
}

/** It comes from elsewhere: it enters at the block layer, and is drawn against the widest of the flow. */
function othersOf(
  { issued, pastCache, reached, foreign }: Gauge,
  kind: keyof LayerFlow,
  x: number,
): string | null {
  if (!foreign || foreign[kind] === 0) return null;
  const most = Math.max(issued[kind], pastCache?.[kind] ?? 0, reached?.[kind] ?? 0, foreign[kind]);
  const width = Math.max(LEAST_WIDTH, (OTHERS_WIDTH * foreign[kind]) / most);
  return column(
    x + FULL_WIDTH / 2 + OTHERS_GAP + OTHERS_WIDTH / 2,
    width,
    (DEPTHS[2] + DEPTHS[3]) / 2,
    HEIGHT - REST,
  );
}

const column = (x: number, width: number, from: number, to: number) =>
  `M${x - width / 2} ${from}H${x + width / 2}V${to}H${x - width / 2}Z`;

/** From one width to another between two depths; a flow that ends is a drop. */
function fall(x: number, from: number, to: number, top: number, bottom: number): string {
  const middle = (top + bottom) / 2;
  const [left, right] = [x - from / 2, x + from / 2];
  if (to === 0) return `M${left} ${top}C${left} ${top + 74},${right} ${top + 74},${right} ${top}Z`;
  const [l, r] = [x - to / 2, x + to / 2];
  return `M${left} ${top}C${left} ${middle},${l} ${middle},${l} ${bottom}H${r}C${r} ${middle},${right} ${middle},${right} ${top}Z`;
}

function rest(x: number, width: number, top: number): string {
  const [left, right, bottom] = [x - width / 2, x + width / 2, HEIGHT - REST];
  return `M${left} ${top}V${bottom}Q${x} ${bottom + 22} ${right} ${bottom}V${top}Z`;
}

/** How deep the lead hangs: the middle of the layer where most bytes ended, a little below its label. */
export function leadDepth({ issued, servedBy }: Gauge): number {
  if (issued.ios === 0) return TOP + 14;
  return (
    ((DEPTHS[servedBy] ?? 0) + (DEPTHS[servedBy + 1] ?? HEIGHT)) / 2 + (servedBy === 0 ? 8 : 18)
  );
}
