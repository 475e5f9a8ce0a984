// The depth gauge: what passed each layer boundary, and which layer served most bytes.
import type { ForeignIo } from './foreign-io';
import type { LayerFlow } from './layer-flow';

/** From top to bottom. */
export const LAYERS = [
  'application',
  'page cache',
  'filesystem and block layer',
  'device',
] as const;
/** Index into LAYERS. */
export type Layer = 0 | 1 | 2 | 3;

export interface Gauge {
  issued: LayerFlow;
  /** Null if unknown. */
  pastCache: LayerFlow | null;
  /** Reached the physical devices; null if unknown. */
  reached: LayerFlow | null;
  /** Null if negligible or unknown. */
  foreign: ForeignIo | null;
  bypassed: boolean;
  /** The layer that served most bytes. */
  servedBy: Layer;
  notes: Partial<Record<Layer, string>>;
  /** Error bound of each share, from 0 to 1. */
  uncertainty: number;
}
