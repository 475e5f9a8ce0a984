// The depth gauge as numbers: what the jobs issued, what of it went past the page cache, and what reached the devices,
// in I/Os and in bytes, and in which layer most bytes were answered. Live totals and final reports give the same shape.
// Not here: how it is drawn (`charts/gauge`).
import type { ComparedRun, DeviceCounts, DeviceReport, Mode, Report } from '../api';
import { addCounts } from './window';

/** What crossed a boundary. */
export interface Crossing {
  ios: number;
  bytes: number;
}

/** The layers from top to bottom. */
export const LAYERS = ['application', 'page cache', 'filesystem and block layer', 'device'] as const;
/** Number of a layer in LAYERS. */
export type Layer = 0 | 1 | 2 | 3;

/** What is known of a run's I/Os. */
export interface GaugeInput {
  read: Crossing;
  write: Crossing;
  trim: Crossing;
  /** What the target's block device counted; null when it was not counted. */
  device: DeviceCounts | null;
  /** What the physical devices under it counted. */
  leaves: DeviceCounts | null;
  /** Whether the page cache was bypassed (`direct=1`). */
  direct: boolean;
  mode: Mode | null;
}

/** The gauge, ready to be drawn. */
export interface Gauge {
  issued: Crossing;
  /** Past the page cache; null when not known. */
  past: Crossing | null;
  /** Reached the devices; null when not known. */
  reached: Crossing | null;
  bypassed: boolean;
  /** Where most bytes ended. */
  ended: Layer;
  /** A few words on what happened in a layer. */
  notes: Partial<Record<Layer, string>>;
}

const EMPTY: Crossing = { ios: 0, bytes: 0 };
/** Below this share of the issued, what came through is other traffic and rounding, not the job. */
const NEGLIGIBLE = 0.02;
/** Above this ratio more was done than was asked; less is metadata and rounding. */
const AMPLIFIED = 1.1;

/** Reads the gauge from what was counted. */
export function gaugeOf(input: GaugeInput): Gauge {
  const issued = sum(input.read, input.write, input.trim);
  if (input.mode === 'null')
    return { issued, past: EMPTY, reached: EMPTY, bypassed: false, ended: 0, notes: { 0: 'no I/O at all (ioengine=null)' } };
  const past = input.direct ? issued : crossed(input.device, input, true);
  const gauge: Gauge = {
    issued,
    past,
    reached: crossed(input.leaves, input, false),
    bypassed: input.direct,
    ended: 0,
    notes: {},
  };
  gauge.ended = endOf(gauge);
  gauge.notes = notesOf(gauge, input);
  return gauge;
}

function sum(...crossings: Crossing[]): Crossing {
  return crossings.reduce((a, b) => ({ ios: a.ios + b.ios, bytes: a.bytes + b.bytes }), EMPTY);
}

/** What a device counted in the directions that the job used: a reader's gauge does not show the journal's writes. */
function crossed(counts: DeviceCounts | null, used: GaugeInput, merges: boolean): Crossing | null {
  if (!counts) return null;
  const read = { ios: counts.read_ios + (merges ? counts.read_merges : 0), bytes: counts.read_bytes };
  const write = { ios: counts.write_ios + (merges ? counts.write_merges : 0), bytes: counts.write_bytes };
  const trim = { ios: counts.discard_ios, bytes: counts.discard_bytes };
  return sum(used.read.ios > 0 ? read : EMPTY, used.write.ios > 0 ? write : EMPTY, used.trim.ios > 0 ? trim : EMPTY);
}

function endOf({ issued, past, reached }: Gauge): Layer {
  if (!past) return 0;
  if (issued.bytes === 0) return 0;
  const inCache = Math.max(0, issued.bytes - past.bytes);
  const inBlock = reached ? Math.max(0, past.bytes - reached.bytes) : 0;
  const inDevice = reached ? Math.min(reached.bytes, issued.bytes) : 0;
  const most = Math.max(inCache, inBlock, inDevice);
  if (most === inDevice) return 3;
  return most === inBlock ? 2 : 1;
}

function notesOf(gauge: Gauge, input: GaugeInput): Gauge['notes'] {
  if (gauge.issued.ios === 0) return {};
  const notes: Gauge['notes'] = {};
  if (gauge.bypassed) notes[1] = 'bypassed';
  else if (gauge.past) notes[1] = cacheNote(gauge.issued, gauge.past, input.write.bytes > input.read.bytes);
  if (!gauge.reached) notes[3] = 'not counted';
  else if (gauge.past) notes[2] = blockNote(gauge.past, gauge.reached, gauge.issued);
  return notes;
}

const times = (n: number) => n.toLocaleString('en-US', { maximumSignificantDigits: 2 });

function cacheNote(issued: Crossing, past: Crossing, writing: boolean): string {
  const [ios, bytes] = [past.ios / issued.ios, past.bytes / issued.bytes];
  if (bytes < NEGLIGIBLE) return writing ? 'taken into memory, not yet written' : 'answered from memory';
  if (ios < bytes / 2)
    return `${writing ? 'gathered' : 'readahead'}: ${times(bytes / ios)} ${writing ? 'writes' : 'reads'} in one`;
  if (bytes > AMPLIFIED) return `${times(bytes)} × the bytes asked for`;
  const kept = Math.round((1 - bytes) * 100);
  return kept < 1 ? '' : `${kept} % ${writing ? 'still in memory' : 'answered from memory'}`;
}

function blockNote(past: Crossing, reached: Crossing, issued: Crossing): string {
  if (past.ios === 0) return '';
  if (reached.bytes < issued.bytes * NEGLIGIBLE && past.bytes > issued.bytes / 2)
    return 'answered here: holes or blocks never written';
  if (reached.bytes > past.bytes * AMPLIFIED || reached.ios > past.ios * AMPLIFIED) {
    return `journal, metadata or others: ${times(Math.max(reached.ios / past.ios, reached.bytes / Math.max(1, past.bytes)))} × as much`;
  }
  if (past.bytes < issued.bytes * NEGLIGIBLE) return '';
  return reached.ios < past.ios * 0.9 ? `merged: ${times(past.ios / Math.max(1, reached.ios))} in one` : '';
}

/** The counts of all leaves of a device together. */
function leavesOf(device: DeviceReport | null | undefined): DeviceCounts | null {
  return (device?.leaves ?? []).reduce<DeviceCounts | null>((total, leaf) => addCounts(total, countsOf(leaf)), null);
}

function countsOf(counts: DeviceCounts): DeviceCounts {
  const { read_ios, read_bytes, read_merges, read_ticks_ms, write_ios, write_bytes, write_merges, write_ticks_ms } = counts;
  const { discard_ios, discard_bytes, flush_ios, in_flight, busy_ms } = counts;
  const reads = { read_ios, read_bytes, read_merges, read_ticks_ms };
  const writes = { write_ios, write_bytes, write_merges, write_ticks_ms };
  return { ...reads, ...writes, discard_ios, discard_bytes, flush_ios, in_flight, busy_ms };
}

/** The gauge of a final report, or of a compared run. */
export function gaugeOfReport(
  { read, write, trim, device }: Pick<Report, 'device'> & { [K in 'read' | 'write' | 'trim']?: Crossing | null },
  run: Pick<GaugeInput, 'direct' | 'mode'>,
): Gauge {
  const flows = { read: read ?? EMPTY, write: write ?? EMPTY, trim: trim ?? EMPTY };
  return gaugeOf({ ...flows, device: device ? countsOf(device) : null, leaves: leavesOf(device), ...run });
}

/** The gauge of one side of a comparison. */
export const gaugeOfCompared = (compared: ComparedRun): Gauge =>
  gaugeOfReport(compared, { direct: compared.run.direct, mode: compared.run.mode ?? null });
