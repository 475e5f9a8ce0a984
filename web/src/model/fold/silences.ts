// Periods without completions in a live run's samples.
import { percentiles } from '../series/histogram';
import { addIoCounts } from '../series/window';
import type { Totals } from './totals';

/** A time span, in milliseconds since the start of the run. */
export interface TimeSpanMs {
  start_ms: number;
  end_ms: number;
}

/** Shorter periods without completions are not shown in live charts. */
const MIN_STALL_MS = 1000;
/**
 * Minimum length of a stall, as a multiple of the median latency. Slow but regular completions are
 * not stalls, as in the report.
 */
const MIN_MEDIANS = 10;

/** Periods without completions in the samples so far. */
export class Silences {
  spans: TimeSpanMs[] = [];
  /** `silent_ms` of the last sample. */
  silent_ms = 0;

  add(t_ms: number, silent_ms: number, totals: Totals) {
    this.silent_ms = silent_ms;
    if (silent_ms < MIN_STALL_MS || silent_ms < MIN_MEDIANS * medianMs(totals)) return;
    this.spans = mergeSpans([...this.spans, { start_ms: t_ms - silent_ms, end_ms: t_ms }]);
  }
}

function medianMs({ read, write, trim }: Totals): number {
  const { lat_ns } = [write, trim].reduce(addIoCounts, read);
  return (percentiles(lat_ns, [50])[0] ?? 0) / 1e6;
}

/** Merges overlapping spans. */
export function mergeSpans(spans: readonly TimeSpanMs[]): TimeSpanMs[] {
  const joined: TimeSpanMs[] = [];
  for (const span of spans.toSorted((a, b) => a.start_ms - b.start_ms)) {
    const last = joined.at(-1);
    if (last && span.start_ms <= last.end_ms) last.end_ms = Math.max(last.end_ms, span.end_ms);
    else joined.push({ ...span });
  }
  return joined;
}
