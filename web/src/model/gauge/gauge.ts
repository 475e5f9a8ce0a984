// Computes the depth gauge from counts: I/O issued by the jobs, past the page cache, and on the devices. Verdicts add what
// device counters cannot show: zeros from unwritten blocks and the owner of the I/O. Not here: notes (`notes`), drawing
// (`charts/gauge`).
import type { DeviceCounts } from '../../api';
import { foreignIo } from './foreign-io';
import {
  type GaugeInput,
  type LayerFlow,
  NEGLIGIBLE,
  NO_FLOW,
  scaleFlow,
  shareOf,
  sumFlows,
  verdictsOf,
} from './layer-flow';
import { layerNotes } from './notes';
import type { Gauge, Layer } from './types';

export function gaugeOf(input: GaugeInput): Gauge {
  const issued = sumFlows(input.read, input.write, input.trim);
  if (input.mode === 'null') return nullGauge(issued);
  const cached = shareOf(input, 'page_cache');
  const bypassed = input.direct && cached <= NEGLIGIBLE;
  const { used, total } = foreignIo(input, issued);
  const pastCache = input.direct
    ? scaleFlow(issued, bypassed ? 1 : 1 - cached)
    : pastCacheOf(input, issued, used);
  const reached = subtract(
    deviceFlow(input.physical_devices, input, false),
    used,
    input.direct ? issued : null,
  );
  const gauge: Gauge = {
    issued,
    pastCache,
    reached,
    foreign: total,
    bypassed,
    servedBy: servedBy(issued, pastCache, reached),
    notes: {},
    uncertainty: Math.max(
      0,
      ...verdictsOf(input.verdicts).map(({ verdict }) => verdict.uncertainty),
    ),
  };
  return { ...gauge, notes: layerNotes(gauge, input) };
}

const nullGauge = (issued: LayerFlow): Gauge => ({
  issued,
  pastCache: NO_FLOW,
  reached: NO_FLOW,
  foreign: null,
  bypassed: false,
  servedBy: 0,
  notes: { 0: 'no I/O (ioengine=null)' },
  uncertainty: 0,
});

/** Device counts in the directions used by the job, which excludes journal writes of a read job. */
function deviceFlow(
  counts: DeviceCounts | null,
  used: GaugeInput,
  merges: boolean,
): LayerFlow | null {
  if (!counts) return null;
  const flows: LayerFlow[] = [];
  if (used.read.ios > 0) {
    flows.push({
      ios: counts.read_ios + (merges ? counts.read_merges : 0),
      bytes: counts.read_bytes,
    });
  }
  if (used.write.ios > 0) {
    flows.push({
      ios: counts.write_ios + (merges ? counts.write_merges : 0),
      bytes: counts.write_bytes,
    });
  }
  if (used.trim.ios > 0) flows.push({ ios: counts.discard_ios, bytes: counts.discard_bytes });
  return sumFlows(...flows);
}

/**
 * Subtracts foreign I/O; I/Os in proportion to bytes. If the job's I/Os reach the device as `issued`, its I/Os follow from
 * its bytes instead.
 */
function subtract(
  counted: LayerFlow | null,
  foreign: LayerFlow,
  issued: LayerFlow | null,
): LayerFlow | null {
  if (!counted || counted.bytes === 0 || foreign.bytes === 0) return counted;
  const own = scaleFlow(counted, Math.max(0, 1 - foreign.bytes / counted.bytes));
  if (!issued || issued.bytes === 0) return own;
  const ios = Math.round((issued.ios * own.bytes) / issued.bytes);
  return { ...own, ios: Math.min(counted.ios, ios) };
}

/** Of buffered I/O: device I/O plus I/O served by the filesystem below the cache. */
function pastCacheOf(input: GaugeInput, issued: LayerFlow, foreign: LayerFlow): LayerFlow | null {
  const counted = subtract(deviceFlow(input.device, input, true), foreign, null);
  const served = shareOf(input, 'unwritten') + shareOf(input, 'filesystem');
  return counted && sumFlows(counted, scaleFlow(issued, served));
}

function servedBy(
  issued: LayerFlow,
  pastCache: LayerFlow | null,
  reached: LayerFlow | null,
): Layer {
  if (!pastCache || issued.bytes === 0) return 0;
  const cache = Math.max(0, issued.bytes - pastCache.bytes);
  if (!reached) return cache > 0 ? 1 : 3;
  const block = Math.max(0, Math.min(pastCache.bytes, issued.bytes) - reached.bytes);
  const device = Math.min(reached.bytes, issued.bytes);
  const max = Math.max(cache, block, device);
  if (max === device) return 3;
  return max === block ? 2 : 1;
}
