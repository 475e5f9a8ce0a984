// I/O that passes a layer boundary, and the input of the depth gauge.
import type { DeviceCounts, Mode, StorageIo, Verdict, Verdicts } from '../../api';

export interface LayerFlow {
  ios: number;
  bytes: number;
}

export interface GaugeInput {
  read: LayerFlow;
  write: LayerFlow;
  trim: LayerFlow;
  /** Block device of the target; null if not counted. */
  device: DeviceCounts | null;
  /** Sum of the physical devices below it. */
  physical_devices: DeviceCounts | null;
  /** The page cache was bypassed (`direct=1`). */
  direct: boolean;
  mode: Mode | null;
  /** Storage I/O of the runner process; null if not counted. */
  storage?: StorageIo | null;
  /** Dirty and writeback bytes of the targets. */
  waiting_bytes?: number | null;
  /** Of a finished run. */
  verdicts?: Verdicts | null;
}

export const NO_FLOW: LayerFlow = { ios: 0, bytes: 0 };

/** Smaller shares of the issued I/O are rounding errors and foreign I/O. */
export const NEGLIGIBLE = 0.02;

export function sumFlows(...flows: LayerFlow[]): LayerFlow {
  return flows.reduce((a, b) => ({ ios: a.ios + b.ios, bytes: a.bytes + b.bytes }), NO_FLOW);
}

/** `share` is from 0 to 1. */
export const scaleFlow = ({ ios, bytes }: LayerFlow, share: number): LayerFlow => ({
  ios: Math.round(ios * share),
  bytes: Math.round(bytes * share),
});

/** The available verdicts by direction. */
export function verdictsOf(
  verdicts: Verdicts | null | undefined,
): { direction: 'read' | 'write'; verdict: Verdict }[] {
  return (['read', 'write'] as const).flatMap((direction) => {
    const verdict = verdicts?.[direction];
    return verdict ? [{ direction, verdict }] : [];
  });
}

/** Share of all issued bytes served by a location, from 0 to 1; 0 without a verdict. */
export function shareOf(input: GaugeInput, location: string): number {
  const issued = input.read.bytes + input.write.bytes + input.trim.bytes;
  if (issued === 0) return 0;
  const bytes = verdictsOf(input.verdicts).map(
    ({ direction, verdict }) => input[direction].bytes * (verdict.shares[location] ?? 0),
  );
  return bytes.reduce((a, b) => a + b, 0) / issued;
}
