// Definitions of a run's charts: title, lines, value format. To add a metric, add a column to
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
import { DIRECTION_LABELS } from '../model/run/summary';
import type { Column } from '../model/series/columns';
import type { LineStyle } from '../model/series/line-style';

/** A line that shows one column or the sum of multiple columns. */
export interface PanelLine extends LineStyle {
  label: string;
  columns: readonly Column[];
  thin?: boolean;
  /** True if the column is sampled less often than others. Gaps are bridged. */
  sparse?: boolean;
}

/** A labeled horizontal line. */
interface Threshold {
  label: string;
  value: number;
}

/** `binary`: ticks at round values in KiB, MiB or GiB. */
export type Scale = 'linear' | 'binary' | 'log' | 'binary log';

export interface Panel {
  key: string;
  title: string;
  /** The initial scale. The user can switch between linear and logarithmic. */
  scale: Scale;
  format: (value: number | null) => string;
  lines: readonly PanelLine[];
  thresholds?: readonly Threshold[];
}

export interface Directions {
  reads: boolean;
  writes: boolean;
  trims: boolean;
}

/** Limits (`vm.dirty_*`) at which background writeback starts and writers are throttled. */
export interface DirtyLimits {
  dirty_background_bytes?: number | null;
  dirty_bytes?: number | null;
}

const format = (figure: (value: number | null) => Figure) => (value: number | null) =>
  text(figure(value));

/** A run's panels. If the run writes, they include its host's dirty limits. */
export function getPanels(directions: Directions, limits: DirtyLimits = {}): Panel[] {
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
      title: 'Latency',
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
      title: 'Host page cache',
      scale: 'binary log',
      format: format(bytes),
      lines: memory(directions),
      thresholds: directions.writes ? dirtyThresholds(limits) : [],
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
  { label: 'Max', columns: ['lat_max_ns'], color: 'bad', thin: true },
];
const DEPTH: PanelLine[] = [{ label: 'Application', columns: ['in_flight'], color: 'app' }];
const MEMORY: PanelLine[] = [
  { label: 'Cached', columns: ['cached'], color: 'cache' },
  { label: 'Buffers', columns: ['buffers'], color: 'block' },
  { label: 'Dirty', columns: ['dirty'], color: 'bad' },
  { label: 'Writeback', columns: ['writeback'], color: 'device', dash: 'dashed' },
  { label: 'Target cached', columns: ['target_cached'], color: 'app', sparse: true },
];
const TARGET_DIRTY: PanelLine = {
  label: 'Target dirty',
  columns: ['target_dirty'],
  color: 'app',
  dash: 'dashed',
  sparse: true,
};
/**
 * The runner's CPU shares are relative to one core and can exceed 100 %; the host's are relative to
 * all cores.
 */
const CPU: PanelLine[] = [
  { label: 'Runner user (one core)', columns: ['process_user'], color: 'app' },
  { label: 'Runner system (one core)', columns: ['process_system'], color: 'block' },
  { label: 'Host (all cores)', columns: ['host_busy'], color: 'mute', thin: true },
  { label: 'I/O pressure', columns: ['io_some'], color: 'bad', dash: 'dashed' },
];

const memory = ({ writes }: Directions): PanelLine[] => [
  ...MEMORY,
  ...(writes ? [TARGET_DIRTY] : []),
];

function dirtyThresholds({
  dirty_background_bytes: background,
  dirty_bytes: limit,
}: DirtyLimits): Threshold[] {
  const threshold = (label: string, value: number | null | undefined) =>
    value ? [{ label, value }] : [];
  return [
    ...threshold('Background writeback', background),
    ...threshold('Dirty limit (writers throttled)', limit),
  ];
}

const DEVICE_LINE: LineStyle = { color: 'device', dash: 'dashed' };

function ioLines(directions: Directions, unit: 'iops' | 'bytes_per_second'): PanelLine[] {
  const { reads, writes, trims } = directions;
  const mixed = [reads, writes, trims].filter(Boolean).length > 1;
  const included = { read: reads, write: writes, trim: trims && unit === 'iops' };
  const used = (['read', 'write', 'trim'] as const).filter((name) => included[name]);
  const columns = used.map((name) => `${name}_${unit}` as Column);
  const parts: PanelLine[] = used.map((name, i) => ({
    label: DIRECTION_LABELS[name],
    columns: [`${name}_${unit}` as Column],
    color: i === 0 ? 'block' : 'cache',
    thin: true,
  }));
  const total: PanelLine = {
    label: mixed ? 'Application total' : 'Application',
    columns,
    color: 'app',
  };
  const device = deviceLines(unit, included.trim);
  if (mixed) {
    const columns = device.flatMap((line) => line.columns);
    return [total, ...parts, { label: 'Device', columns, ...DEVICE_LINE }];
  }
  // All directions, because I/O in one can cause I/O in another: a buffered write of part of a page
  // reads the page first, and discarding part of an image file writes its metadata.
  const [expected, ...others] = writes || included.trim ? device.toReversed() : device;
  return [total, ...(expected ? [expected] : []), ...others.map(dotted)];
}

const dotted = (line: PanelLine): PanelLine => ({ ...line, dash: 'dotted' });

/** The device's reads, writes and, if included, discards. The bandwidth chart has no discards. */
function deviceLines(unit: 'iops' | 'bytes_per_second', hasDiscards: boolean): PanelLine[] {
  const lines: PanelLine[] = [
    { label: 'Device reads', columns: [`device_read_${unit}`], ...DEVICE_LINE },
    { label: 'Device writes', columns: [`device_write_${unit}`], ...DEVICE_LINE },
  ];
  if (!hasDiscards) return lines;
  return [...lines, { label: 'Device discards', columns: ['device_discard_iops'], ...DEVICE_LINE }];
}
