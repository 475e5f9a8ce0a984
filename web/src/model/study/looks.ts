// The interim looks of a study with `until_decided`.
import type { Look, LookChange, PlannedLook, Study, StudyPlan, UntilDecided } from '../../api';
import type { ForestScale } from '../compare/forest';
import { metricLabel } from '../compare/metrics';

export interface LookRow {
  key: string;
  look: PlannedLook;
  /** Null if the look has not taken place yet. */
  taken: Look | null;
  metric: string;
  /** Null if the look has not taken place yet, or if a step has no value. */
  change: LookChange | null;
  /** Why there is no change to show; empty if there is one. */
  note: string;
}

/** Names as in comparisons, such as `Read IOPS`. */
export const lookMetric = (name: string): string => metricLabel(name, 2);

/** One row per look and metric, in order. */
export function lookRows({ until_decided: until, looks }: Pick<Study, 'until_decided' | 'looks'>) {
  if (!until) return [];
  const isDecided = looks.some(({ outcome }) => outcome === 'decided');
  return until.looks.flatMap((look) => {
    const taken = looks.find(({ pairs }) => pairs === look.pairs) ?? null;
    return until.metrics.map((metric): LookRow => {
      const change = taken?.changes.find((other) => other.metric === metric) ?? null;
      return {
        key: `${look.pairs} ${metric}`,
        look,
        taken,
        metric: lookMetric(metric),
        change,
        note: noteOf(taken, look, looks, isDecided),
      };
    });
  });
}

function noteOf(
  taken: Look | null,
  { pairs }: PlannedLook,
  looks: readonly Look[],
  isDecided: boolean,
): string {
  if (taken) return taken.outcome === 'not_comparable' ? 'Not comparable' : '';
  const isSkipped = looks.some((look) => look.pairs > pairs);
  return isDecided || isSkipped ? 'Not needed' : 'Pending';
}

/** A shared scale for the intervals of all looks. */
export function lookScale({
  until_decided,
  looks,
}: Pick<Study, 'until_decided' | 'looks'>): ForestScale {
  const threshold = until_decided?.threshold_percent ?? 2;
  const bounds = looks
    .flatMap(({ changes }) => changes)
    .flatMap(({ percent, interval_percent: interval }) => [
      interval?.low ?? percent ?? 0,
      interval?.high ?? percent ?? 0,
    ]);
  const limit = Math.max(threshold * 2.5, Math.min(60, 1.1 * Math.max(0, ...bounds.map(Math.abs))));
  return { limit, threshold };
}

/** `99.2 %` */
export const confidenceText = (percent: number): string => `${Number(percent.toFixed(2))} %`;

/** Example: `Ends as soon as Read IOPS is decided. Interim looks after 8, 12 and 20 pairs.` */
export function looksText({ metrics, looks }: UntilDecided): string {
  const list = new Intl.ListFormat('en-US', { style: 'long', type: 'conjunction' });
  const names = list.format(metrics.map(lookMetric));
  const pairs = list.format(looks.map((look) => String(look.pairs)));
  return `Ends as soon as ${names} ${metrics.length > 1 ? 'are' : 'is'} decided. Interim looks after ${pairs} pairs.`;
}

/** The looks in a plan as text; empty if all repeats are run. */
export const plannedLooksText = ({ until_decided }: Pick<StudyPlan, 'until_decided'>): string =>
  until_decided ? looksText(until_decided) : '';
