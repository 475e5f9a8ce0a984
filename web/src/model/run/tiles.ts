// A run's key metrics: for the last second while it is live, for the whole measurement after
// it has finished, or for the measurement so far if it ended without a report. All directions are
// combined; percentiles come from merged histograms.
import type { Report } from '../../api';
import { isFinal, type RunFold } from '../fold/run-fold';
import { totalLatencies } from '../fold/totals';
import {
  count,
  decimalRate,
  type Figure,
  isKnown,
  latency,
  percent,
  rate,
  shortCount,
  text,
} from '../format/numbers';
import { type Buckets, mergeBuckets } from '../series/histogram';
import { mergeWindows, type Window } from '../series/window';
import {
  DIRECTIONS,
  isUsed,
  type KeyLatencies,
  type Reported,
  reportedLatencies,
  reportedText,
  toKeyLatencies,
  withBound,
} from './reported-latency';
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
  latencies: KeyLatencies;
  /** Percentage of one core. */
  cpu: number | null;
  cpu_ns_per_io: number | null;
  iops_note: string;
}

/** The time span that live metrics cover. */
const LIVE_MS = 1000;

const prefixed = (prefix: string, reported: Reported) =>
  isKnown(reported.ns) ? `${prefix} ${reportedText(reported)}` : '';

function latencyFigure({ ns, isLowerBound }: Reported): Figure {
  const { value, unit } = latency(ns);
  return { value: withBound(value, isLowerBound), unit };
}

export function toTiles(fold: RunFold): Tile[] {
  const report = fold.result?.report;
  const { iops, bytes_per_second, latencies, cpu, cpu_ns_per_io, iops_note } = report
    ? reportFigures(report)
    : isFinal(fold.status)
      ? partialFigures(fold)
      : liveFigures(fold);
  const { p50, p99, p999, max } = latencies;
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
    { label: 'p50 latency', figure: latencyFigure(p50), note: prefixed('max', max) },
    { label: 'p99 latency', figure: latencyFigure(p99), note: prefixed('p99.9', p999) },
    {
      label: 'CPU (one core)',
      figure: percent(cpu),
      note: cpu_ns_per_io === null ? '' : `${text(latency(cpu_ns_per_io))} per I/O`,
    },
  ];
}

function reportFigures(report: Report): Figures {
  const names = DIRECTIONS.filter((name) => isUsed(report[name]));
  const used = names.map((name) => report[name]);
  const ios = used.reduce((sum, stats) => sum + stats.ios, 0);
  const { cpu } = report;
  const split = names.map((name) => `${name} ${text(shortCount(report[name].iops))}`);
  return {
    iops: used.reduce((sum, stats) => sum + stats.iops, 0),
    bytes_per_second: used.reduce((sum, stats) => sum + stats.bytes_per_second, 0),
    latencies: reportedLatencies(report),
    cpu: cpu?.process_percent ?? null,
    cpu_ns_per_io: cpu && ios > 0 ? ((cpu.user_ms + cpu.system_ms) * 1e6) / ios : null,
    iops_note: split.length > 1 ? split.join(' · ') : `${count(ios)} I/Os in total`,
  };
}

const UNKNOWN: Figures = {
  iops: null,
  bytes_per_second: null,
  latencies: toKeyLatencies([]),
  cpu: null,
  cpu_ns_per_io: null,
  iops_note: '',
};

function partialFigures({ totals }: RunFold): Figures {
  if (totals.length_ms === 0) return UNKNOWN;
  const counts = DIRECTIONS.map((name) => totals[name]);
  const sum = (key: 'ios' | 'bytes') =>
    counts.reduce((total, direction) => total + direction[key], 0);
  const perSecond = (n: number) => (n * 1000) / totals.length_ms;
  return {
    ...UNKNOWN,
    iops: perSecond(sum('ios')),
    bytes_per_second: perSecond(sum('bytes')),
    latencies: toKeyLatencies(totalLatencies(totals)),
    iops_note: `Partial: ${count(sum('ios'))} I/Os`,
  };
}

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
    latencies: toKeyLatencies(lat),
    cpu,
    cpu_ns_per_io: cpu === null || ios === 0 ? null : (cpu / 100) * (1e9 / perSecond(ios)),
    iops_note: totals.length_ms > 0 ? `mean ${text(mean)}` : 'ramp, not counted',
  };
}

/**
 * Merges a phase's newest samples, which cover about one second, into one window. Null before
 * the first sample.
 */
function lastWindow(windows: readonly Window[]): Window | null {
  let last: Window | null = null;
  for (const window of windows.toReversed()) {
    if (last && (last.length_ms >= LIVE_MS * 0.95 || window.phase !== last.phase)) break;
    last = last ? mergeWindows(window, last) : window;
  }
  return last;
}
