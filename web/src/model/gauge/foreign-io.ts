// I/O of the target's device that does not belong to the job: other processes, and background I/O of the filesystem. The
// gauge subtracts it and draws it separately.
import type { DeviceCounts, StorageIo, VerdictClass } from '../../api';
import { type GaugeInput, type LayerFlow, NO_FLOW, scaleFlow, sumFlows } from './layer-flow';

export interface ForeignIo extends LayerFlow {
  source: 'foreign' | 'foreign and filesystem';
}

/** Foreign I/O is shown above this share of the issued bytes and above this size. */
const MIN_SHARE = 0.2;
const MIN_BYTES = 4 * 2 ** 20;

/** Classes whose evidence separates the job's writes from those of the filesystem and other processes. */
const SEPARATED: readonly VerdictClass[] = ['deferred_write', 'foreign', 'mixed'];

/** Foreign I/O in the directions used by the job, and in total. */
export function foreignIo(
  input: GaugeInput,
  issued: LayerFlow,
): { used: LayerFlow; total: ForeignIo | null } {
  const { device, storage } = input;
  if (!device || !storage) return { used: NO_FLOW, total: null };
  const read = excess(device.read_ios, device.read_bytes, storage.read_bytes);
  const write = foreignWrites(input, device, storage);
  const used = sumFlows(input.read.ios > 0 ? read : NO_FLOW, input.write.ios > 0 ? write : NO_FLOW);
  const total = sumFlows(read, write);
  const verdict = separatedWrites(input);
  // Bytes that the verdict subtracts from the job are always shown.
  const isSubtracted = verdict !== null && write.bytes > 0;
  const isLarge = total.bytes > MIN_BYTES && total.bytes > issued.bytes * MIN_SHARE;
  if (!isSubtracted && !isLarge) return { used, total: null };
  const isOnlyForeign = verdict === null || verdict.class === 'foreign';
  const source = isOnlyForeign ? 'foreign' : 'foreign and filesystem';
  return { used, total: { ...total, source } };
}

/** The verdict on writes if it separates them from other writes. */
function separatedWrites({ write, verdicts }: GaugeInput) {
  const verdict = verdicts?.write;
  if (!verdict || write.ios === 0 || !SEPARATED.includes(verdict.class)) return null;
  const { own_bytes } = verdict.evidence;
  return own_bytes === undefined ? null : { class: verdict.class, own_bytes };
}

/**
 * `storage.write_bytes` counts dirtied pages, which the filesystem writes in its own threads, so for jobs that write only
 * the verdict knows their share.
 */
function foreignWrites(
  input: GaugeInput,
  { write_ios, write_bytes }: DeviceCounts,
  storage: StorageIo,
): LayerFlow {
  const verdict = separatedWrites(input);
  if (input.write.ios > 0 && !verdict) return NO_FLOW;
  return excess(write_ios, write_bytes, verdict?.own_bytes ?? storage.write_bytes);
}

/** Device I/O beyond the job's bytes; I/Os in proportion. */
const excess = (ios: number, bytes: number, own_bytes: number): LayerFlow =>
  bytes > 0 ? scaleFlow({ ios, bytes }, Math.max(0, 1 - own_bytes / bytes)) : NO_FLOW;
