// The charts of a run as data: title, lines made of columns, value format. A new metric is a column of
// `model/series/columns` and a line here.

import {
  bytes,
  type Figure,
  latency,
  percent,
  rate,
  shortCount,
  text,
} from '../model/format/numbers';
import type { Column } from '../model/series/columns';
import type { LineStyle } from '../model/series/line-style';

/** A line of one column, or the sum of several. */
export interface PanelLine extends LineStyle {
  label: string;
  columns: readonly Column[];
  thin?: boolean;
  /** Sampled less often; gaps are bridged. */
  sparse?: boolean;
}

/** A labeled horizontal line. */
interface Threshold {
  label: string;
  value: number;
}

export interface Panel {
  key: string;
  title: string;
  /** `binary` has ticks at round KiB, MiB or GiB. */
  scale: 'linear' | 'binary' | 'log' | 'binary log';
  format: (value: number | null) => string;
  lines: readonly PanelLine[];
  thresholds?: readonly Threshold[];
}

export interface Directions {
  reads: boolean;
  writes: boolean;
  trims: boolean;
}

/** Limits of dirty memory: start of background writeback, and throttling of writers (`vm.dirty_*`). */
export interface DirtyLimits {
  dirty_background_bytes?: number | null;
  dirty_bytes?: number | null;
}

const format = (figure: (value: number | null) => Figure) => (value: number | null) =>
  text(figure(value));

/** The panels of a run; `limits` of its host apply to writes. */
export function panelsOf(directions: Directions, limits: DirtyLimits = {}): Panel[] {
  return [
    {
      key: 'iops',
      title: 'IOPS',
      scale: 'linear',
      format: format(shortCount),
      lines: ioLines(directions, 'iops'),
    },
    {
      key: 'latency',
      title: 'Latency (log)',
      scale: 'log',
      format: format(latency),
      lines: LATENCY,
    },
    {
      key: 'bandwidth',
      title: 'Bandwidth',
      scale: 'binary',
      format: format(rate),
      lines: ioLines(directions, 'bytes_per_second'),
    },
    {
      key: 'depth',
      title: 'I/Os in flight',
      scale: 'linear',
      format: format(shortCount),
      lines: DEPTH,
    },
    {
      key: 'memory',
      title: 'Host page cache (log)',
      scale: 'binary log',
      format: format(bytes),
      lines: memory(directions),
      thresholds: directions.writes ? thresholdsOf(limits) : [],
    },
    {
      key: 'cpu',
      title: 'CPU and I/O pressure',
      scale: 'linear',
      format: format(percent),
      lines: CPU,
    },
  ];
}

const LATENCY: PanelLine[] = [
  { label: 'p50', columns: ['lat_p50_ns'], color: 'app' },
  { label: 'p99', columns: ['lat_p99_ns'], color: 'block' },
  { label: 'p99.9', columns: ['lat_p999_ns'], color: 'cache', dash: 'dashed' },
  { label: 'max', columns: ['lat_max_ns'], color: 'bad', thin: true },
];
const DEPTH: PanelLine[] = [{ label: 'application', columns: ['in_flight'], color: 'app' }];
const MEMORY: PanelLine[] = [
  { label: 'Cached', columns: ['cached'], color: 'cache' },
  { label: 'Buffers', columns: ['buffers'], color: 'block' },
  { label: 'Dirty', columns: ['dirty'], color: 'bad' },
  { label: 'Writeback', columns: ['writeback'], color: 'device', dash: 'dashed' },
  { label: 'target cached', columns: ['target_cached'], color: 'app', sparse: true },
];
const TARGET_DIRTY: PanelLine = {
  label: 'target dirty',
  columns: ['target_dirty'],
  color: 'app',
  dash: 'dashed',
  sparse: true,
};
/** The runner's shares are of one core and can exceed 100 %; the host's are of all cores. */
const CPU: PanelLine[] = [
  { label: 'runner user (one core)', columns: ['process_user'], color: 'app' },
  { label: 'runner system (one core)', columns: ['process_system'], color: 'block' },
  { label: 'host (all cores)', columns: ['host_busy'], color: 'mute', thin: true },
  { label: 'pressure', columns: ['io_some'], color: 'bad', dash: 'dashed' },
];

const memory = ({ writes }: Directions): PanelLine[] => [
  ...MEMORY,
  ...(writes ? [TARGET_DIRTY] : []),
];

function thresholdsOf({
  dirty_background_bytes: background,
  dirty_bytes: limit,
}: DirtyLimits): Threshold[] {
  const threshold = (label: string, value: number | null | undefined) =>
    value ? [{ label, value }] : [];
  return [
    ...threshold('background writeback', background),
    ...threshold('dirty limit: writers wait', limit),
  ];
}

function ioLines(
  { reads, writes, trims }: Directions,
  unit: 'iops' | 'bytes_per_second',
): PanelLine[] {
  const mixed = [reads, writes, trims].filter(Boolean).length > 1;
  const used = [reads && 'read', writes && 'write', trims && unit === 'iops' && 'trim'].filter(
    (name) => typeof name === 'string',
  );
  const columns = used.map((name) => `${name}_${unit}` as Column);
  const device = used
    .filter((name) => name !== 'trim')
    .map((name) => `device_${name}_${unit}` as Column);
  const parts: PanelLine[] = columns.map((column, i) => ({
    label: `${used[i]}s`,
    columns: [column],
    color: i === 0 ? 'block' : 'cache',
    thin: true,
  }));
  const total: PanelLine = {
    label: mixed ? 'application total' : 'application',
    columns,
    color: 'app',
  };
  const deviceLine: PanelLine = {
    label: 'device',
    columns: device,
    color: 'device',
    dash: 'dashed',
  };
  return [total, ...(mixed ? parts : []), ...(device.length > 0 ? [deviceLine] : [])];
}
