// The percentiles of a report as a table: fio's list, one column a kind of latency.
import type { DirectionStats, LatencyStats, Report, SyncStats } from '../../api';
import { latency, text } from '../format/numbers';

/** A table of latencies: headings, and rows of name and texts. */
export interface LatencyTable {
  heads: string[];
  rows: [name: string, values: string[]][];
}

const SHOWN = ['1', '5', '10', '50', '90', '95', '99', '99.5', '99.9', '99.95', '99.99', '99.999'];
const inWords = (ns: number | null | undefined) => text(latency(ns));

/** The table of a report; only directions with I/Os have columns. */
export function latencyTable(report: Report): LatencyTable {
  const columns = (['read', 'write', 'trim'] as const)
    .filter((name) => report[name].ios > 0)
    .flatMap((name) => ofDirection(name, report[name]));
  const all: [string, LatencyStats][] = [...columns, ...ofSync(report.sync)];
  const row = (
    name: string,
    value: (lat: LatencyStats) => number | null | undefined,
  ): [string, string[]] => [name, all.map(([, lat]) => inWords(value(lat)))];
  return {
    heads: all.map(([head]) => head),
    rows: [
      row('min', (lat) => lat.min),
      row('mean', (lat) => lat.mean),
      row('stddev', (lat) => lat.stddev),
      ...SHOWN.map((p) => row(`p${p}`, (lat) => lat.percentiles[p])),
      row('max', (lat) => lat.max),
    ],
  };
}

function ofDirection(
  name: string,
  { slat_ns, clat_ns, lat_ns, intended_lat_ns }: DirectionStats,
): [string, LatencyStats][] {
  const kinds: [string, LatencyStats][] = [
    [`${name} lat`, lat_ns],
    [`${name} clat`, clat_ns],
    [`${name} slat`, slat_ns],
    ...(intended_lat_ns ? [[`${name} intended`, intended_lat_ns] as [string, LatencyStats]] : []),
  ];
  return kinds.filter(([, lat]) => lat.count > 0);
}

const ofSync = (sync: SyncStats): [string, LatencyStats][] =>
  sync.ios > 0 ? [['fsync', sync.lat_ns]] : [];
