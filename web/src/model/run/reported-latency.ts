// Latencies in a report. I/Os that were still in flight when the run ended are included with their
// age, which is a lower bound of their latency. Values that depend on them are therefore lower
// bounds.
import type { DirectionStats, LatencyStats, Report } from '../../api';
import { latency, NBSP, plural, text } from '../format/numbers';
import { type Buckets, bucketAt, mergeBuckets, percentiles } from '../series/histogram';

export const DIRECTIONS = ['read', 'write', 'trim'] as const;

/** A latency that may be a lower bound. */
export interface Reported {
  ns: number | null | undefined;
  isLowerBound: boolean;
}

/** `9.50 s`, or `≥ 9.50 s` for a lower bound. */
export const reportedText = ({ ns, isLowerBound }: Reported): string =>
  withBound(text(latency(ns)), isLowerBound);

export const withBound = (value: string, isLowerBound: boolean): string =>
  isLowerBound ? `≥${NBSP}${value}` : value;

/** A percentile, such as `99.9`. */
export const percentileOf = (stats: LatencyStats, name: string): Reported => ({
  ns: stats.percentiles[name],
  isLowerBound: isLowerBound(stats, name),
});

export const maxOf = (stats: LatencyStats): Reported => ({
  ns: stats.max,
  isLowerBound: isLowerBound(stats, 'max'),
});

const isLowerBound = ({ at_least }: LatencyStats, name: string): boolean =>
  at_least?.includes(name) ?? false;

/** Returns true if an I/O completed, or was in flight when the run ended. */
export const isUsed = ({ ios, unfinished }: DirectionStats): boolean =>
  ios > 0 || (unfinished?.ios ?? 0) > 0;

type Latencies = Pick<DirectionStats, 'unfinished'> & {
  lat_ns: Pick<LatencyStats, 'buckets' | 'at_least'>;
};

/**
 * Latencies of the completed I/Os. After a hang, also includes the unfinished I/Os, all of which
 * are counted at the age of the oldest one.
 */
export function toBuckets({ lat_ns, unfinished }: Latencies): Buckets {
  const isHung = unfinished && lat_ns.at_least?.includes('max');
  if (!isHung) return lat_ns.buckets;
  return mergeBuckets(lat_ns.buckets, [[bucketAt(unfinished.oldest_ns), unfinished.ios]]);
}

type Directions = { [Name in (typeof DIRECTIONS)[number]]?: Latencies | null };

/** Latencies of all directions combined. */
export const latencyOf = (stats: Directions): Buckets =>
  DIRECTIONS.reduce<Buckets>((sum, name) => {
    const direction = stats[name];
    return direction ? mergeBuckets(sum, toBuckets(direction)) : sum;
  }, []);

export interface KeyLatencies {
  p50: Reported;
  p99: Reported;
  p999: Reported;
  max: Reported;
}

const UNKNOWN: Reported = { ns: null, isLowerBound: false };

/** Latencies of completed I/Os. */
export function toKeyLatencies(buckets: Buckets): KeyLatencies {
  const exact = (ns: number | null | undefined): Reported => ({ ns, isLowerBound: false });
  const [p50, p99, p999, max] = percentiles(buckets, [50, 99, 99.9, 100]).map(exact);
  return { p50: p50 ?? UNKNOWN, p99: p99 ?? UNKNOWN, p999: p999 ?? UNKNOWN, max: max ?? UNKNOWN };
}

/**
 * Key latencies of all directions combined. If there are multiple directions, the percentiles come
 * from histograms.
 */
export function reportedLatencies(report: Report): KeyLatencies {
  const used = DIRECTIONS.map((name) => report[name]).filter(isUsed);
  const slowest = used.toSorted((a, b) => (b.lat_ns.max ?? 0) - (a.lat_ns.max ?? 0))[0];
  const max = slowest ? maxOf(slowest.lat_ns) : UNKNOWN;
  const [only] = used;
  if (only && used.length === 1) {
    const of = (name: string) => percentileOf(only.lat_ns, name);
    return { p50: of('50'), p99: of('99'), p999: of('99.9'), max };
  }
  const merged = toKeyLatencies(latencyOf(report));
  const bounds = used
    .filter(({ lat_ns }) => isLowerBound(lat_ns, 'max'))
    .map(({ unfinished }) => bucketAt(unfinished?.oldest_ns ?? 0));
  const bounded = ({ ns }: Reported): Reported => ({
    ns,
    isLowerBound: typeof ns === 'number' && bucketAt(ns) >= Math.min(...bounds),
  });
  return { p50: bounded(merged.p50), p99: bounded(merged.p99), p999: bounded(merged.p999), max };
}

/** Unfinished I/Os older than this are always shown. */
const MIN_OLDEST_NS = 1e9;

/**
 * Returns `32 I/Os were in flight at the end, …`. Null if none of them waited long and no latency
 * is a lower bound.
 */
export function unfinishedText(report: Report): string | null {
  const directions = DIRECTIONS.map((name) => report[name]);
  const all = [...directions, report.sync];
  const oldest_ns = Math.max(...all.map(({ unfinished }) => unfinished?.oldest_ns ?? 0));
  const isBounded = all.some(({ lat_ns }) => (lat_ns.at_least?.length ?? 0) > 0);
  if (oldest_ns < MIN_OLDEST_NS && !isBounded) return null;
  const ios = directions.reduce((sum, { unfinished }) => sum + (unfinished?.ios ?? 0), 0);
  const syncs = report.sync.unfinished?.ios ?? 0;
  const counts = [ios > 0 && plural(ios, 'I/O'), syncs > 0 && plural(syncs, 'sync')];
  const subject = counts.filter(Boolean).join(' and ');
  const were = ios + syncs === 1 ? 'was' : 'were';
  return `${subject} ${were} in flight at the end, the oldest for ${text(latency(oldest_ns))}.`;
}
