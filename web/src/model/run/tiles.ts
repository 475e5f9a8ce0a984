// The big figures of a run: of the last second while it runs, of the whole measured window when it is over. IOPS and
// bytes are sums of all directions; percentiles are those of all I/Os together, from their joined histograms.
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

/** One big figure with a line below it. */
export interface Tile {
  label: string;
  figure: Figure;
  below: string;
  /** Whether the line below is a warning. */
  warns?: boolean;
}

/** What the figures are made of. */
interface Measured {
  iops: number | null;
  bytes_per_second: number | null;
  lat: Buckets;
  /** Longest latency in ns. */
  max_ns: number | null;
  /** Processor time of the runner in percent of one core. */
  cpu: number | null;
  /** Processor time of the runner in ns per I/O. */
  cpu_ns_per_io: number | null;
  /** What stands under the IOPS. */
  iops_note: string;
}

const known = (word: string, ns: number | null) => (ns === null ? '' : word + text(latency(ns)));

/** How much of a live run counts as now, in ms. */
const NOW_MS = 1000;

/** The figures of a run as it stands. */
export function tilesOf(fold: RunFold): Tile[] {
  const report = fold.result?.report;
  const measured = report ? ofReport(report) : ofNow(fold);
  const [p50 = null, p99 = null, p999 = null] = percentiles(measured.lat, [50, 99, 99.9]);
  const perIo =
    measured.cpu_ns_per_io === null ? '' : `${text(latency(measured.cpu_ns_per_io))} per I/O`;
  const whose = servedByNote(fold.result?.verdict);
  return [
    {
      label: 'IOPS',
      figure: shortCount(measured.iops),
      below: whose ?? measured.iops_note,
      warns: whose !== null,
    },
    {
      label: 'bandwidth',
      figure: rate(measured.bytes_per_second),
      below: measured.bytes_per_second === null ? '' : text(decimalRate(measured.bytes_per_second)),
    },
    { label: 'p50 latency', figure: latency(p50), below: known('longest ', measured.max_ns) },
    { label: 'p99 latency', figure: latency(p99), below: known('p99.9 ', p999) },
    { label: 'CPU of one core', figure: percent(measured.cpu), below: perIo },
  ];
}

function ofReport(report: Report): Measured {
  const all = [report.read, report.write, report.trim];
  const used = all.filter(({ ios }) => ios > 0);
  const ios = used.reduce((sum, direction) => sum + direction.ios, 0);
  const names = ['read', 'write', 'trim'] as const;
  const split = names
    .filter((name) => report[name].ios > 0)
    .map((name) => `${name} ${text(shortCount(report[name].iops))}`);
  return {
    iops: used.reduce((sum, direction) => sum + direction.iops, 0),
    bytes_per_second: used.reduce((sum, direction) => sum + direction.bytes_per_second, 0),
    lat: latencyOf(report),
    max_ns: used.length > 0 ? Math.max(...used.map(({ lat_ns }) => lat_ns.max ?? 0)) : null,
    cpu: report.cpu?.process_percent ?? null,
    cpu_ns_per_io:
      report.cpu && ios > 0 ? ((report.cpu.user_ms + report.cpu.system_ms) * 1e6) / ios : null,
    iops_note: split.length > 1 ? split.join(' · ') : `${count(ios)} I/Os in all`,
  };
}

/** All latencies of a report as one distribution. */
export function latencyOf(report: Pick<Report, 'read' | 'write' | 'trim'>): Buckets {
  return [report.read, report.write, report.trim].reduce<Buckets>(
    (sum, { lat_ns }) => mergeBuckets(sum, lat_ns.buckets),
    [],
  );
}

function ofNow(fold: RunFold): Measured {
  const now = lastWindow(fold);
  if (!now)
    return {
      iops: null,
      bytes_per_second: null,
      lat: [],
      max_ns: null,
      cpu: null,
      cpu_ns_per_io: null,
      iops_note: '',
    };
  const flows = [now.read, now.write, now.trim];
  const ios = flows.reduce((sum, flow) => sum + flow.ios, 0);
  const lat = flows.reduce<Buckets>((sum, flow) => mergeBuckets(sum, flow.lat_ns), []);
  const perSecond = (n: number) => (n * 1000) / now.length_ms;
  const cpu = now.cpu ? now.cpu.process_user + now.cpu.process_system : null;
  const { totals } = fold;
  const all = totals.read.ios + totals.write.ios + totals.trim.ios;
  return {
    iops: perSecond(ios),
    bytes_per_second: perSecond(flows.reduce((sum, flow) => sum + flow.bytes, 0)),
    lat,
    max_ns: percentiles(lat, [100])[0] ?? null,
    cpu,
    cpu_ns_per_io: cpu === null || ios === 0 ? null : (cpu / 100) * (1e9 / perSecond(ios)),
    iops_note:
      totals.length_ms > 0
        ? `mean so far ${text(shortCount((all * 1000) / totals.length_ms))}`
        : 'ramp, not counted',
  };
}

/** The last second as one window; null before the first sample. */
function lastWindow(fold: RunFold): Window | null {
  let window: Window | null = null;
  for (const point of fold.series.points.toReversed()) {
    if (window && (window.length_ms >= NOW_MS * 0.95 || point.window.phase !== window.phase)) break;
    window = window ? joinWindows(point.window, window) : point.window;
  }
  return window;
}
