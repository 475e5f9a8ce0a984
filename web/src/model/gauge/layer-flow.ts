// What crossed from one layer into the next, and all that is known about it: the input of the depth gauge. Not here:
// what the gauge makes of it (`gauge`).
import type { DeviceCounts, Mode, StorageIo, Verdict, Verdicts } from '../../api';

/** What crossed a boundary. */
export interface LayerFlow {
  ios: number;
  bytes: number;
}

/** What is known of a run's I/Os. */
export interface GaugeInput {
  read: LayerFlow;
  write: LayerFlow;
  trim: LayerFlow;
  /** What the target's block device counted; null when it was not counted. */
  device: DeviceCounts | null;
  /** What the physical devices under it counted. */
  physical_devices: DeviceCounts | null;
  /** Whether the page cache was bypassed (`direct=1`). */
  direct: boolean;
  mode: Mode | null;
  /** What the runner alone moved from and to storage; absent or null when it was not counted. */
  storage?: StorageIo | null;
  /** Bytes of the targets that waited in memory to be written, in the end or by now. */
  waiting_bytes?: number | null;
  /** Where the I/O went, once the run is over. */
  verdicts?: Verdicts | null;
}

/** Nothing. */
export const NO_FLOW: LayerFlow = { ios: 0, bytes: 0 };
/** Below this share of the issued, what came through is other traffic and rounding, not the job. */
export const NEGLIGIBLE = 0.02;

/** Several as one. */
export function sumFlows(...crossings: LayerFlow[]): LayerFlow {
  return crossings.reduce((a, b) => ({ ios: a.ios + b.ios, bytes: a.bytes + b.bytes }), NO_FLOW);
}

/** A share, from 0 to 1, of one. */
export const scaleFlow = ({ ios, bytes }: LayerFlow, share: number): LayerFlow => ({
  ios: Math.round(ios * share),
  bytes: Math.round(bytes * share),
});

type Directed = ['read' | 'write', Verdict];

/** The verdicts that there are, with their directions. */
export function verdictsIn({ verdicts }: Pick<GaugeInput, 'verdicts'>): Directed[] {
  const { read, write } = verdicts ?? {};
  return [
    ...(read ? [['read', read] as Directed] : []),
    ...(write ? [['write', write] as Directed] : []),
  ];
}

/** Share of all issued bytes that one place answered, from 0 to 1; 0 where no verdict says so. */
export function shareOf(input: GaugeInput, place: string): number {
  const issued = input.read.bytes + input.write.bytes + input.trim.bytes;
  const bytes = verdictsIn(input).map(
    ([direction, { shares }]) => input[direction].bytes * (shares[place] ?? 0),
  );
  return issued > 0 ? bytes.reduce((a, b) => a + b, 0) / issued : 0;
}
