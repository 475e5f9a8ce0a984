// The panels of a run as data: a title, lines made of columns, how values are written. A new metric is a column in the
// model and a line here.

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

/** One line of a panel: one column, or several added up. */
export interface PanelLine extends LineStyle {
  label: string;
  columns: readonly Column[];
  thin?: boolean;
  /** Read less often than the rest: its points are joined across those between. */
  sparse?: boolean;
}

/** A value that means something, drawn across a chart. */
export interface Mark {
  label: string;
  value: number;
}

/** One chart over time. */
export interface Panel {
  key: string;
  title: string;
  /** How the value axis is divided; `binary` is in round KiB, MiB, GiB. */
  scale: 'linear' | 'binary' | 'log' | 'binary log';
  format: (value: number | null) => string;
  lines: readonly PanelLine[];
  marks?: readonly Mark[];
}

/** Which directions a run has. */
export interface Directions {
  reads: boolean;
  writes: boolean;
  trims: boolean;
}

/** When the kernel begins to write dirty memory, and where it stops whoever makes more, in bytes. */
export interface DirtyLimits {
  dirty_background_bytes?: number | null;
  dirty_bytes?: number | null;
}

const written = (figure: (value: number | null) => Figure) => (value: number | null) =>
  text(figure(value));

/** The panels of a run with these directions; `limits`: those of its host, where it writes. */
export function panelsOf(directions: Directions, limits: DirtyLimits = {}): Panel[] {
  return [
    {
      key: 'iops',
      title: 'IOPS',
      scale: 'linear',
      format: written(shortCount),
      lines: flows(directions, 'iops'),
    },
    {
      key: 'latency',
      title: 'Latency (log)',
      scale: 'log',
      format: written(latency),
      lines: LATENCY,
    },
    {
      key: 'bandwidth',
      title: 'Bandwidth',
      scale: 'binary',
      format: written(rate),
      lines: flows(directions, 'bytes_per_second'),
    },
    {
      key: 'depth',
      title: 'I/Os in flight',
      scale: 'linear',
      format: written(shortCount),
      lines: DEPTH,
    },
    {
      key: 'memory',
      title: 'Page cache of the host (log)',
      scale: 'binary log',
      format: written(bytes),
      lines: memory(directions),
      marks: directions.writes ? marksOf(limits) : [],
    },
    {
      key: 'processor',
      title: 'Processor and I/O pressure',
      scale: 'linear',
      format: written(percent),
      lines: PROCESSOR,
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
  { label: 'of the target', columns: ['target_cached'], color: 'app', sparse: true },
];
const TARGET_DIRTY: PanelLine = {
  label: 'its dirty',
  columns: ['target_dirty'],
  color: 'app',
  dash: 'dashed',
  sparse: true,
};
/** Shares of two wholes on one axis: the runner's are of one processor and may pass 100 %, the host's are of all. */
const PROCESSOR: PanelLine[] = [
  { label: 'runner user, of one', columns: ['process_user'], color: 'app' },
  { label: 'runner system, of one', columns: ['process_system'], color: 'block' },
  { label: 'host, of all', columns: ['host_busy'], color: 'mute', thin: true },
  { label: 'pressure', columns: ['io_some'], color: 'bad', dash: 'dashed' },
];

const memory = ({ writes }: Directions): PanelLine[] => [
  ...MEMORY,
  ...(writes ? [TARGET_DIRTY] : []),
];

function marksOf({ dirty_background_bytes: background, dirty_bytes: limit }: DirtyLimits): Mark[] {
  const mark = (label: string, value: number | null | undefined) =>
    value ? [{ label, value }] : [];
  return [...mark('writeback begins', background), ...mark('dirty limit: writers wait', limit)];
}

function flows(
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
  const all: PanelLine = {
    label: mixed ? 'application, all' : 'application',
    columns,
    color: 'app',
  };
  const below: PanelLine = { label: 'device', columns: device, color: 'device', dash: 'dashed' };
  return [all, ...(mixed ? parts : []), ...(device.length > 0 ? [below] : [])];
}
