// Results of an SNIA performance test: plots, tables and CSV.
import type { CellValue, SniaResults, SniaState, SniaTestName } from '../../api';
import { formatValue } from '../compare/metrics';

export const SNIA_TESTS: Record<SniaTestName, string> = {
  iops: 'IOPS test',
  throughput: 'Throughput test',
  latency: 'Latency test',
  write_saturation: 'Write saturation test',
};

export const SNIA_STATES: Record<SniaState, string> = {
  preparing: 'Preconditioning',
  running: 'Rounds',
  steady: 'Steady state',
  not_reached: 'Not reached',
  incomplete: 'Incomplete',
  complete: 'Complete',
};

export interface SniaMetric {
  label: string;
  unit: string;
  value: (cell: CellValue) => number | null;
}

const MEAN: SniaMetric = {
  label: 'Average latency',
  unit: 'ns',
  value: ({ lat_mean_ns }) => lat_mean_ns ?? null,
};
const IOPS: SniaMetric = { label: 'IOPS', unit: '1/s', value: ({ iops }) => iops };

/** Names from the specification. The main metric comes first. */
export const SNIA_METRICS: Record<SniaTestName, readonly SniaMetric[]> = {
  iops: [IOPS],
  throughput: [
    { label: 'Throughput', unit: 'bytes/s', value: ({ bytes_per_second }) => bytes_per_second },
  ],
  latency: [
    MEAN,
    {
      label: '5 9s latency',
      unit: 'ns',
      value: ({ lat_p99999_ns }) => lat_p99999_ns ?? null,
    },
    { label: 'Maximum latency', unit: 'ns', value: ({ lat_max_ns }) => lat_max_ns ?? null },
    IOPS,
  ],
  write_saturation: [],
};

const KIB = 1024;

/** `64 KiB`; block sizes are binary. */
export const blockText = (bytes: number): string => `${digitsOf(bytes / KIB)} KiB`;
const digitsOf = (value: number) => String(Number(value.toFixed(1)));

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

export const mixesOf = ({ cells }: Pick<SniaResults, 'cells'>): number[] =>
  distinct(cells.map(({ mix }) => mix));
export const blocksOf = ({ cells }: Pick<SniaResults, 'cells'>): number[] =>
  distinct(cells.map(({ block }) => block));

/** The mix of reads and writes, in the specification's notation: `65/35`. */
export const mixText = (mix: number): string => `${mix}/${100 - mix}`;

export interface SniaLine {
  label: string;
  values: (number | null)[];
}

/**
 * The steady state convergence plot: values by round. It has a line per block size, for the mix
 * with the fewest reads.
 */
export function convergence(
  { cells, rounds }: Pick<SniaResults, 'cells' | 'rounds'>,
  { value }: SniaMetric,
): SniaLine[] {
  const mix = Math.min(...cells.map((cell) => cell.mix));
  return cells.flatMap((cell, index) => {
    if (cell.mix !== mix) return [];
    const values = rounds.map((round) => {
      const result = round.values[index];
      return result ? value(result) : null;
    });
    return [{ label: blockText(cell.block), values }];
  });
}

/** The 2D plot: values by block size, smallest first. It has a line per mix. */
export function mixLines(results: Pick<SniaResults, 'cells'>, { value }: SniaMetric): SniaLine[] {
  const blocks = blocksOf(results).toSorted((a, b) => a - b);
  return mixesOf(results).map((mix) => ({
    label: mixText(mix),
    values: blocks.map((block) => {
      const cell = results.cells.find((other) => other.mix === mix && other.block === block);
      return cell?.value ? value(cell.value) : null;
    }),
  }));
}

/** Text of one table cell. */
export function cellText(
  { cells }: Pick<SniaResults, 'cells'>,
  mix: number,
  block: number,
  { value, unit }: SniaMetric,
): string {
  const cell = cells.find((other) => other.mix === mix && other.block === block);
  return formatValue(cell?.value ? value(cell.value) : null, unit);
}

/** The results for all cells in all rounds. */
export function sniaCsv({ cells, rounds }: SniaResults): string {
  const header = 'round,read_percent,block_bytes,iops,bytes_per_second,lat_mean_ns,lat_max_ns,ios';
  const rows = rounds.flatMap(({ round, values }) =>
    cells.map(({ mix, block }, index) => {
      const cell = values[index];
      const numbers = [
        cell?.iops,
        cell?.bytes_per_second,
        cell?.lat_mean_ns,
        cell?.lat_max_ns,
        cell?.ios,
      ];
      return [round, mix, block, ...numbers.map((number) => number ?? '')].join(',');
    }),
  );
  return [header, ...rows].join('\n');
}
