// The band around a group's latency percentiles: the range of its runs at each percentile.
import { type Buckets, percentiles, totalCount } from '../series/histogram';

export interface BandPoint {
  /** −log10 of the share of I/Os above the percentile: 1 for p90, 2 for p99. */
  nines: number;
  low_ns: number;
  high_ns: number;
}

const STEP = 0.1;

/**
 * The band ends at the highest percentile that the run with the fewest I/Os supports. Empty for a
 * single run.
 */
export function curveBand(runs: readonly Buckets[]): BandPoint[] {
  const counts = runs.map(totalCount).filter((count) => count > 0);
  if (counts.length < 2) return [];
  const last = Math.floor(Math.log10(Math.min(...counts)) / STEP);
  const nines = Array.from({ length: last + 1 }, (_, index) => index * STEP);
  const percents = nines.map((value) => 100 * (1 - 10 ** -value));
  const curves = runs.map((buckets) => percentiles(buckets, percents));
  return nines.flatMap((value, index) => {
    const values = curves.flatMap((curve) => curve[index] ?? []);
    const [low_ns, high_ns] = [Math.min(...values), Math.max(...values)];
    return values.length > 1 ? [{ nines: value, low_ns, high_ns }] : [];
  });
}
