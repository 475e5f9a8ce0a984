// Percentiles of a report as a table, one column per kind of latency. The percentiles are fio's
// defaults.
import type { DirectionStats, LatencyStats, Report } from '../../api';
import { latency, text } from '../format/numbers';

export interface LatencyTable {
  heads: string[];
  rows: [name: string, values: string[]][];
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

/** Columns without I/Os are omitted. */
export function latencyTable(report: Report): LatencyTable {
  const columns = [
    ...(['read', 'write', 'trim'] as const).flatMap((name) => directionColumns(name, report[name])),
    column('fsync', report.sync.lat_ns),
  ].filter(({ stats }) => stats.count > 0);
  const row = (
    name: string,
    value: (stats: LatencyStats) => number | null | undefined,
  ): [string, string[]] => [name, columns.map(({ stats }) => text(latency(value(stats))))];
  return {
    heads: columns.map(({ head }) => head),
    rows: [
      row('min', ({ min }) => min),
      row('mean', ({ mean }) => mean),
      row('stddev', ({ stddev }) => stddev),
      ...PERCENTILES.map((p) => row(`p${p}`, ({ percentiles }) => percentiles[p])),
      row('max', ({ max }) => max),
    ],
  };
}

const column = (head: string, stats: LatencyStats) => ({ head, stats });

function directionColumns(
  name: string,
  { lat_ns, clat_ns, slat_ns, intended_lat_ns }: DirectionStats,
) {
  const columns = [
    column(`${name} lat`, lat_ns),
    column(`${name} clat`, clat_ns),
    column(`${name} slat`, slat_ns),
  ];
  if (intended_lat_ns) columns.push(column(`${name} intended`, intended_lat_ns));
  return columns;
}
