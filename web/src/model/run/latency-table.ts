// A report's percentiles as a table, with one column per kind of latency. The percentiles are
// those that fio reports by default.
import type { DirectionStats, LatencyStats, Report } from '../../api';
import { isKnown } from '../format/numbers';
import { DIRECTIONS, maxOf, percentileOf, type Reported } from './reported-latency';

export interface LatencyTable {
  headers: string[];
  rows: [name: string, values: Reported[]][];
}

const PERCENTILES = [
  '1',
  '5',
  '10',
  '50',
  '90',
  '95',
  '99',
  '99.5',
  '99.9',
  '99.95',
  '99.99',
  '99.999',
];

/** Columns that have no latencies are omitted. */
export function latencyTable(report: Report): LatencyTable {
  const columns = [
    ...DIRECTIONS.flatMap((name) => directionColumns(name, reportedBy(report)[name])),
    column('fsync', report.sync.lat_ns),
  ].filter(({ stats }) => stats.count > 0 || isKnown(stats.max));
  const row = (name: string, value: (stats: LatencyStats) => Reported): [string, Reported[]] => [
    name,
    columns.map(({ stats }) => value(stats)),
  ];
  const exact = (name: 'min' | 'mean' | 'stddev') =>
    row(name, (stats) => ({ ns: stats[name], isLowerBound: false }));
  return {
    headers: columns.map(({ header }) => header),
    rows: [
      exact('min'),
      exact('mean'),
      exact('stddev'),
      ...PERCENTILES.map((p) => row(`p${p}`, (stats) => percentileOf(stats, p))),
      row('max', maxOf),
    ],
  };
}

/**
 * fio reports percentiles of either clat or lat. If it reported clat, they are not shown as lat.
 */
function reportedBy(report: Report): Report {
  if (report.foreign?.percentiles_of !== 'clat') return report;
  const only = (stats: DirectionStats): DirectionStats => ({
    ...stats,
    lat_ns: { ...stats.lat_ns, percentiles: {}, buckets: [] },
  });
  return {
    ...report,
    read: only(report.read),
    write: only(report.write),
    trim: only(report.trim),
  };
}

const column = (header: string, stats: LatencyStats) => ({ header, stats });

function directionColumns(
  name: string,
  { lat_ns, clat_ns, slat_ns, intended_lat_ns }: DirectionStats,
) {
  const columns = [column(`${name} lat`, lat_ns)];
  // A synchronous engine completes an I/O by submitting it, so there is nothing to divide.
  if (clat_ns.max !== 0) {
    columns.push(column(`${name} clat`, clat_ns), column(`${name} slat`, slat_ns));
  }
  if (intended_lat_ns) columns.push(column(`${name} intended`, intended_lat_ns));
  return columns;
}
