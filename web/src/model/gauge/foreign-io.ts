// What a device did that was not the job's: other programs' I/O, and the filesystem's own. It is taken off the gauge's
// flows, and drawn beside them.
import type { DeviceCounts, StorageIo, Verdict, VerdictClass } from '../../api';
import { type GaugeInput, type LayerFlow, NO_FLOW, scaleFlow, sumFlows } from './layer-flow';

/** What was not the job's, and whose it was. */
export interface ForeignIo extends LayerFlow {
  source: 'others' | 'others and the filesystem itself';
}

/** Others' bytes are drawn from here on: what is more than the job's own by this part, and more than this many bytes. */
const MORE = 0.2;
const FLOOR_BYTES = 4 * 2 ** 20;

/** Classes of writes whose bytes were told from what the filesystem and others wrote; the terminal's gauge has the same. */
const TOLD: readonly VerdictClass[] = ['deferred_write', 'foreign', 'mixed'];

/**
 * The verdict on writes that were told from what the filesystem writes in threads of its own; null where all that the
 * device wrote counts as the job's.
 */
function toldWrites({ write, verdicts }: Pick<GaugeInput, 'write' | 'verdicts'>): Verdict | null {
  const told = verdicts?.write;
  return told && write.ios > 0 && TOLD.includes(told.class) ? told : null;
}

/** What the target's device moved that was not the job's: in the directions that the job used, and in all. */
export function foreignIo(
  input: GaugeInput,
  issued: LayerFlow,
): { used: LayerFlow; all: ForeignIo | null } {
  const { device, storage } = input;
  if (!device || !storage) return { used: NO_FLOW, all: null };
  const read = beyond(device.read_ios, device.read_bytes, storage.read_bytes);
  const [write, told] = beyondWrites(input, device, storage);
  const all = sumFlows(read, write);
  // What the verdict took off the job's own bytes is drawn however little it is: the device did it.
  const isMuch =
    (told && write.bytes > 0) || (all.bytes > FLOOR_BYTES && all.bytes > issued.bytes * MORE);
  const source = told && told.class !== 'foreign' ? 'others and the filesystem itself' : 'others';
  const used = sumFlows(input.read.ios > 0 ? read : NO_FLOW, input.write.ios > 0 ? write : NO_FLOW);
  return { used, all: isMuch ? { ...all, source } : null };
}

/**
 * What a device wrote beyond our own bytes, and the verdict that says so. `write_bytes` counts what was dirtied, and a
 * filesystem writes in threads of its own: where a job writes, only the verdict knows what was its own.
 */
function beyondWrites(
  input: GaugeInput,
  { write_ios, write_bytes }: DeviceCounts,
  storage: StorageIo,
): [LayerFlow, Verdict | null] {
  const told = toldWrites(input);
  const own = told ? told.evidence.own_bytes : storage.write_bytes;
  if (own === undefined || (input.write.ios > 0 && !told)) return [NO_FLOW, null];
  return [beyond(write_ios, write_bytes, own), told];
}

/** What a device did beyond our own bytes; I/Os in proportion. */
const beyond = (ios: number, bytes: number, own: number): LayerFlow =>
  bytes > 0 ? scaleFlow({ ios, bytes }, Math.max(0, 1 - own / bytes)) : NO_FLOW;
