// The key figures of a run: of the last second while live, of the whole measurement when finished.
// All directions are combined; percentiles come from merged histograms.
import type { Report } from '../../api';
import type { RunFold } from '../fold/run-fold';
import {
  count,
  decimalRate,
  type Figure,
  latency,
  percent,
  rate,
  shortCount,
  text,
} from '../format/numbers';
import { type Buckets, mergeBuckets, percentiles } from '../series/histogram';
import { joinWindows, type Window } from '../series/window';
import { servedByNote } from './verdict';

export interface Tile {
  label: string;
  figure: Figure;
  note: string;
  isWarning?: boolean;
}

interface Figures {
  iops: number | null;
  bytes_per_second: number | null;
  lat: Buckets;
  lat_max_ns: number | null;
  /** Percentage of one core. */
  cpu: number | null;
  cpu_ns_per_io: number | null;
  iops_note: string;
}

/** The time span of live figures. */
const LIVE_MS = 1000;
const DIRECTIONS = ['read', 'write', 'trim'] as const;

const prefixed = (prefix: string, ns: number | null) =>
  ns === null ? '' : `${prefix} ${text(latency(ns))}`;

export function tilesOf(fold: RunFold): Tile[] {
  const report = fold.result?.report;
  const { iops, bytes_per_second, lat, lat_max_ns, cpu, cpu_ns_per_io, iops_note } = report
    ? reportFigures(report)
    : liveFigures(fold);
  const [p50 = null, p99 = null, p999 = null] = percentiles(lat, [50, 99, 99.9]);
  const servedBy = servedByNote(fold.result?.verdict);
  return [
    {
      label: 'IOPS',
      figure: shortCount(iops),
      note: servedBy ?? iops_note,
      isWarning: servedBy !== null,
    },
    {
      label: 'Bandwidth',
      figure: rate(bytes_per_second),
      note: bytes_per_second === null ? '' : text(decimalRate(bytes_per_second)),
    },
    { label: 'p50 latency', figure: latency(p50), note: prefixed('max', lat_max_ns) },
    { label: 'p99 latency', figure: latency(p99), note: prefixed('p99.9', p999) },
    {
      label: 'CPU (one core)',
      figure: percent(cpu),
      note: cpu_ns_per_io === null ? '' : `${text(latency(cpu_ns_per_io))} per I/O`,
    },
  ];
}

function reportFigures(report: Report): Figures {
  const names = DIRECTIONS.filter((name) => report[name].ios > 0);
  const used = names.map((name) => report[name]);
  const ios = used.reduce((sum, stats) => sum + stats.ios, 0);
  const { cpu } = report;
  const split = names.map((name) => `${name} ${text(shortCount(report[name].iops))}`);
  return {
    iops: used.reduce((sum, stats) => sum + stats.iops, 0),
    bytes_per_second: used.reduce((sum, stats) => sum + stats.bytes_per_second, 0),
    lat: latencyOf(report),
    lat_max_ns: used.length > 0 ? Math.max(...used.map(({ lat_ns }) => lat_ns.max ?? 0)) : null,
    cpu: cpu?.process_percent ?? null,
    cpu_ns_per_io: cpu && ios > 0 ? ((cpu.user_ms + cpu.system_ms) * 1e6) / ios : null,
    iops_note: split.length > 1 ? split.join(' · ') : `${count(ios)} I/Os in total`,
  };
}

type Directions = {
  [Name in (typeof DIRECTIONS)[number]]?: { lat_ns: { buckets: Buckets } } | null;
};

/** The latencies of all directions. */
export const latencyOf = (stats: Directions): Buckets =>
  DIRECTIONS.reduce<Buckets>(
    (sum, name) => mergeBuckets(sum, stats[name]?.lat_ns.buckets ?? []),
    [],
  );

const UNKNOWN: Figures = {
  iops: null,
  bytes_per_second: null,
  lat: [],
  lat_max_ns: null,
  cpu: null,
  cpu_ns_per_io: null,
  iops_note: '',
};

function liveFigures({ series, totals }: RunFold): Figures {
  const window = lastWindow(series.points.map((point) => point.window));
  if (!window) return UNKNOWN;
  const counts = DIRECTIONS.map((name) => window[name]);
  const ios = counts.reduce((sum, direction) => sum + direction.ios, 0);
  const bytes = counts.reduce((sum, direction) => sum + direction.bytes, 0);
  const lat = counts.reduce<Buckets>((sum, { lat_ns }) => mergeBuckets(sum, lat_ns), []);
  const perSecond = (n: number) => (n * 1000) / window.length_ms;
  const cpu = window.cpu ? window.cpu.process_user + window.cpu.process_system : null;
  const total = totals.read.ios + totals.write.ios + totals.trim.ios;
  const mean = shortCount((total * 1000) / totals.length_ms);
  return {
    iops: perSecond(ios),
    bytes_per_second: perSecond(bytes),
    lat,
    lat_max_ns: percentiles(lat, [100])[0] ?? null,
    cpu,
    cpu_ns_per_io: cpu === null || ios === 0 ? null : (cpu / 100) * (1e9 / perSecond(ios)),
    iops_note: totals.length_ms > 0 ? `mean ${text(mean)}` : 'ramp, not counted',
  };
}

/** The last second as one window of one phase; null before the first sample. */
function lastWindow(windows: readonly Window[]): Window | null {
  let last: Window | null = null;
  for (const window of windows.toReversed()) {
    if (last && (last.length_ms >= LIVE_MS * 0.95 || window.phase !== last.phase)) break;
    last = last ? joinWindows(window, last) : window;
  }
  return last;
}
