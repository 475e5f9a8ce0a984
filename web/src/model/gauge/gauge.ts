// The depth gauge as numbers: what the jobs issued, what of it went past the page cache, and what reached the devices,
// in I/Os and in bytes, and in which layer most bytes were answered. Live totals and final reports give the same shape; a
// report's verdict also tells what counters of devices cannot: zeros that the filesystem made, and whose the bytes were.
// Not here: what is written into the layers (`gauge-notes`), how it is drawn (`charts/gauge`).
import type { ComparedRun, DeviceCounts, DeviceReport, Report } from '../../api';
import { addCounts } from '../series/window';
import { type ForeignIo, foreignIo } from './foreign-io';
import {
  type GaugeInput,
  type LayerFlow,
  NEGLIGIBLE,
  NO_FLOW,
  scaleFlow,
  shareOf,
  sumFlows,
  verdictsIn,
} from './layer-flow';
import { layerNotes } from './notes';

/** The layers from top to bottom. */
export const LAYERS = [
  'application',
  'page cache',
  'filesystem and block layer',
  'device',
] as const;
/** Number of a layer in LAYERS. */
export type Layer = 0 | 1 | 2 | 3;

/** The gauge, ready to be drawn. */
export interface Gauge {
  issued: LayerFlow;
  /** Past the page cache; null when not known. */
  pastCache: LayerFlow | null;
  /** Reached the devices; null when not known. */
  reached: LayerFlow | null;
  /** What the devices did meanwhile that was not the job's; null when that was little or is not known. */
  foreign: ForeignIo | null;
  bypassed: boolean;
  /** Where most bytes ended. */
  servedBy: Layer;
  /** A few words on what happened in a layer. */
  notes: Partial<Record<Layer, string>>;
  /** How far the shares may be off, from 0 to 1. */
  uncertainty: number;
}

/** Reads the gauge from what was counted. */
export function gaugeOf(input: GaugeInput): Gauge {
  const issued = sumFlows(input.read, input.write, input.trim);
  const plain = { issued, foreign: null, uncertainty: 0 };
  if (input.mode === 'null')
    return {
      ...plain,
      pastCache: NO_FLOW,
      reached: NO_FLOW,
      bypassed: false,
      servedBy: 0,
      notes: { 0: 'no I/O at all (ioengine=null)' },
    };
  const others = foreignIo(input, issued);
  const bypassed = input.direct && shareOf(input, 'page_cache') <= NEGLIGIBLE;
  const gauge: Gauge = {
    ...plain,
    pastCache: input.direct
      ? scaleFlow(issued, bypassed ? 1 : 1 - shareOf(input, 'page_cache'))
      : pastCache(input, issued, others.used),
    reached: without(
      crossed(input.physical_devices, input, false),
      others.used,
      input.direct ? issued : null,
    ),
    foreign: others.all,
    bypassed,
    servedBy: 0,
    notes: {},
    uncertainty: Math.max(0, ...verdictsIn(input).map(([, verdict]) => verdict.uncertainty)),
  };
  gauge.servedBy = endOf(gauge);
  gauge.notes = layerNotes(gauge, input);
  return gauge;
}

/** What a device counted in the directions that the job used: a reader's gauge does not show the journal's writes. */
function crossed(counts: DeviceCounts | null, used: GaugeInput, merges: boolean): LayerFlow | null {
  if (!counts) return null;
  const read = {
    ios: counts.read_ios + (merges ? counts.read_merges : 0),
    bytes: counts.read_bytes,
  };
  const write = {
    ios: counts.write_ios + (merges ? counts.write_merges : 0),
    bytes: counts.write_bytes,
  };
  const trim = { ios: counts.discard_ios, bytes: counts.discard_bytes };
  return sumFlows(
    used.read.ios > 0 ? read : NO_FLOW,
    used.write.ios > 0 ? write : NO_FLOW,
    used.trim.ios > 0 ? trim : NO_FLOW,
  );
}

/**
 * What is left when others' bytes are taken off. I/Os go in proportion; where ours are known to reach the device as they
 * were issued, as many are ours as made those bytes.
 */
function without(
  counted: LayerFlow | null,
  others: LayerFlow,
  issued: LayerFlow | null,
): LayerFlow | null {
  if (!counted || counted.bytes === 0 || others.bytes === 0) return counted;
  const ours = scaleFlow(counted, Math.max(0, 1 - others.bytes / counted.bytes));
  if (!issued || issued.bytes === 0) return ours;
  return {
    ...ours,
    ios: Math.min(counted.ios, Math.round((issued.ios * ours.bytes) / issued.bytes)),
  };
}

/** Through the cache: what the device counted, and what the filesystem answered by itself below the cache. */
function pastCache(input: GaugeInput, issued: LayerFlow, others: LayerFlow): LayerFlow | null {
  const counted = without(crossed(input.device, input, true), others, null);
  return (
    counted &&
    sumFlows(counted, scaleFlow(issued, shareOf(input, 'unwritten') + shareOf(input, 'filesystem')))
  );
}

function endOf({ issued, pastCache, reached }: Gauge): Layer {
  if (!pastCache) return 0;
  if (issued.bytes === 0) return 0;
  const inCache = Math.max(0, issued.bytes - pastCache.bytes);
  const inBlock = reached
    ? Math.max(0, Math.min(pastCache.bytes, issued.bytes) - reached.bytes)
    : 0;
  const inDevice = reached ? Math.min(reached.bytes, issued.bytes) : 0;
  const most = Math.max(inCache, inBlock, inDevice);
  if (most === inDevice) return 3;
  return most === inBlock ? 2 : 1;
}

/** The counts of all leaves of a device together. */
function leavesOf(device: DeviceReport | null | undefined): DeviceCounts | null {
  return (device?.physical_devices ?? []).reduce<DeviceCounts | null>(
    (total, leaf) => addCounts(total, countsOf(leaf)),
    null,
  );
}

function countsOf(counts: DeviceCounts): DeviceCounts {
  const {
    read_ios,
    read_bytes,
    read_merges,
    read_ticks_ms,
    write_ios,
    write_bytes,
    write_merges,
    write_ticks_ms,
  } = counts;
  const { discard_ios, discard_bytes, flush_ios, in_flight, busy_ms } = counts;
  const reads = { read_ios, read_bytes, read_merges, read_ticks_ms };
  const writes = { write_ios, write_bytes, write_merges, write_ticks_ms };
  return { ...reads, ...writes, discard_ios, discard_bytes, flush_ios, in_flight, busy_ms };
}

/** The parts of a report that the gauge reads; a compared run has them too. */
type Reported = Pick<Report, 'device' | 'storage'> & {
  [K in 'read' | 'write' | 'trim']?: LayerFlow | null;
};

/** The gauge of a final report, or of a compared run. */
export function gaugeOfReport(
  { read, write, trim, device, storage }: Reported,
  run: Pick<GaugeInput, 'direct' | 'mode' | 'verdicts'>,
): Gauge {
  const flows = { read: read ?? NO_FLOW, write: write ?? NO_FLOW, trim: trim ?? NO_FLOW };
  const waiting_bytes = run.verdicts?.write?.evidence.dirty_end_bytes ?? null;
  const counted = {
    device: device ? countsOf(device) : null,
    physical_devices: leavesOf(device),
    storage,
  };
  return gaugeOf({ ...flows, ...counted, waiting_bytes, ...run });
}

/** The gauge of one side of a comparison. */
export const gaugeOfCompared = (compared: ComparedRun): Gauge =>
  gaugeOfReport(compared, {
    direct: compared.run.direct,
    mode: compared.run.mode ?? null,
    verdicts: compared.verdict,
  });
