// Text for trends: states, groups, and host changes.
import type {
  Baseline,
  ExclusionCount,
  FactChange,
  Trend,
  TrendPoint,
  TrendState,
} from '../../api';
import { formatChange, formatValue } from '../compare/metrics';
import { formatSetting } from '../compare/setting-text';
import { plural, UNKNOWN } from '../format/numbers';
import { dateTime } from '../format/time';
import { badgeOf } from '../run/verdict';

/** Each state's label and tone. OK and undecided are not colored. */
export const STATES: Record<
  TrendState,
  { label: string; tone: 'bad' | 'device' | 'cache' | null }
> = {
  ok: { label: 'OK', tone: null },
  regressed: { label: 'Regressed', tone: 'bad' },
  improved: { label: 'Improved', tone: 'device' },
  undecided: { label: 'Undecided', tone: null },
  not_comparable: { label: 'Not comparable', tone: 'cache' },
};

/** 41.2 k (40.6 k to 41.9 k), or an en dash. */
export function statisticsText({ statistics, at_least }: TrendPoint, unit: string): string {
  const { median, interval } = statistics;
  if (median == null) return UNKNOWN;
  const value = `${at_least ? '≥ ' : ''}${formatValue(median, unit)}`;
  if (!interval) return value;
  return `${value} (${formatValue(interval.low, unit)} to ${formatValue(interval.high, unit)})`;
}

export const originText = ({ study, step }: TrendPoint): string =>
  study ? `Study #${study}, step ${step}` : 'Single runs';

/** Describes a group in one line. */
export function pointText(point: TrendPoint, trend: Pick<Trend, 'unit'>): string {
  const { runs, excluded } = point;
  const apart = excluded.length > 0 ? [`${excluded.length} excluded`] : [];
  return [
    dateTime(point.started_at_ms),
    statisticsText(point, trend.unit),
    plural(runs.length, 'run'),
    ...apart,
  ].join(' · ');
}

const factValue = (name: string, value: string | null | undefined): string => {
  if (value == null) return 'none';
  if (name === 'verdict') return badgeOf(value as Parameters<typeof badgeOf>[0]).label;
  return formatSetting(name, value);
};

/** kernel 6.1.0 → 6.8.0 */
export const factText = ({ name, before, after }: FactChange): string =>
  `${factName(name)} ${factValue(name, before)} → ${factValue(name, after)}`;

const FACTS: Record<string, string> = {
  verdict: 'served by',
  cpu_model: 'CPU',
  cpus: 'CPUs',
  memory_bytes: 'memory',
};
const factName = (name: string) =>
  FACTS[name] ?? name.replace(/^(device|vulnerabilities)\./, '').replaceAll('_', ' ');

/** 3 failed, 2 foreign I/O; empty if no run is excluded. */
export const exclusionText = (counts: readonly ExclusionCount[]): string =>
  counts.map(({ reason, runs }) => `${runs} ${reason}`).join(', ');

/** −9.90 %. Empty if the mean before the change was 0. */
export const changeOf = (percent: number | null | undefined): string =>
  percent == null ? '' : formatChange(percent);

/** Returns true if these are the baseline's runs. */
export const isBaseline = (
  runs: readonly number[],
  { baseline }: { baseline?: Baseline | null },
): boolean =>
  !!baseline && runs.length > 0 && baseline.runs.join() === runs.toSorted((a, b) => a - b).join();

/**
 * Returns true if a group was pinned as the baseline, even if some of its runs have been excluded
 * since then. A finding excludes a run unless most runs in the series have that finding, so later
 * runs can change which runs are excluded.
 */
export function isPinnedGroup(
  { runs, excluded }: Pick<TrendPoint, 'runs' | 'excluded'>,
  { baseline }: { baseline?: Baseline | null },
): boolean {
  const pinned = baseline?.runs ?? [];
  const all = [...runs, ...excluded.map(({ run }) => run)];
  return (
    pinned.length > 0 &&
    pinned.every((run) => all.includes(run)) &&
    runs.every((run) => pinned.includes(run))
  );
}
