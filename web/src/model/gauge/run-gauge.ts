// A run's depth gauge: from its report, or from its latest sample. The runner computes it.
import type { Gauge } from '../../api';
import type { RunFold } from '../fold/run-fold';
import { EMPTY_GAUGE } from './layers';

/** Null for runs recorded before the runner reported gauges. */
export function runGauge({ result, gauge, totals }: RunFold): Gauge | null {
  if (result) return result.report.gauge?.total ?? null;
  return gauge ?? (totals.length_ms > 0 ? null : EMPTY_GAUGE);
}
