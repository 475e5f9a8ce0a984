// Metrics of runs that ended without a report. The server provides them only for all directions
// combined.
import type { ComparedMetric, RunSummary } from '../../api';
import { isPartial } from '../run/summary';

const FIGURES = ['iops', 'bytes_per_second', 'lat_p50_ns', 'lat_p99_ns', 'lat_max_ns'] as const;

/**
 * A metric's value for one direction; null if it is unknown. `directions` is the number of
 * directions in the comparison: if there is more than one, per-direction values are unknown.
 */
export function partialValue(
  { name }: Pick<ComparedMetric, 'name'>,
  run: RunSummary,
  directions: number,
): number | null {
  if (!isPartial(run) || directions !== 1) return null;
  const figure = FIGURES.find((figure) => /^(read|write)_(.*)$/.exec(name)?.[2] === figure);
  return figure ? (run[figure] ?? null) : null;
}
