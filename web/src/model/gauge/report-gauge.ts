// The depth gauge of a final report or a compared run.
import type { ComparedRun, DeviceCounts, DeviceReport, Report } from '../../api';
import { addCounts } from '../series/window';
import { gaugeOf } from './gauge';
import { type GaugeInput, type LayerFlow, NO_FLOW } from './layer-flow';
import type { Gauge } from './types';

/** The common fields of `Report` and `ComparedRun`. */
type Reported = Pick<Report, 'device' | 'storage'> & {
  [K in 'read' | 'write' | 'trim']?: LayerFlow | null;
};

export function gaugeOfReport(
  { read, write, trim, device, storage }: Reported,
  run: Pick<GaugeInput, 'direct' | 'mode' | 'verdicts'>,
): Gauge {
  return gaugeOf({
    read: read ?? NO_FLOW,
    write: write ?? NO_FLOW,
    trim: trim ?? NO_FLOW,
    device: device ?? null,
    physical_devices: physicalDevices(device),
    storage,
    waiting_bytes: run.verdicts?.write?.evidence.dirty_end_bytes ?? null,
    ...run,
  });
}

const physicalDevices = (device: DeviceReport | null | undefined) =>
  (device?.physical_devices ?? []).reduce<DeviceCounts | null>(addCounts, null);

export const gaugeOfCompared = (compared: ComparedRun): Gauge =>
  gaugeOfReport(compared, {
    direct: compared.run.direct,
    mode: compared.run.mode ?? null,
    verdicts: compared.verdict,
  });
