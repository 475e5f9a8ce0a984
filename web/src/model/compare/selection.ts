// The selection on the compare page, as encoded in the URL: single runs (`runs=1,2`), or groups of
// repeated runs (`a=tag:before&b=study:12/step:1`).
import type { CompareRunsData } from '../../api';
import { MIN_RUNS, parseRunNumbers } from './run-numbers';

export const GROUP_KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const;
type GroupKey = (typeof GROUP_KEYS)[number];

export type CompareSearch = { [key in GroupKey | 'runs' | 'baseline' | 'threshold']?: string };
export type CompareParameters = NonNullable<CompareRunsData['query']>;

/** The query text of each group, in order. */
export const groupTexts = (search: CompareSearch): string[] =>
  GROUP_KEYS.flatMap((key) => search[key]?.trim() || []);

/** Search parameters for these groups. Empty groups are omitted. */
export function withGroups(search: CompareSearch, texts: readonly string[]): CompareSearch {
  const groups = texts.map((text) => text.trim()).filter(Boolean);
  const lettered = Object.fromEntries(groups.map((text, index) => [GROUP_KEYS[index], text]));
  const { threshold } = search;
  return { ...lettered, ...(threshold && { threshold }) };
}

/** Null if the URL specifies fewer than two runs or groups. */
export function toParameters(search: CompareSearch): CompareParameters | null {
  const threshold = Number(search.threshold) > 0 ? { threshold: Number(search.threshold) } : {};
  const texts = groupTexts(search);
  if (texts.length >= MIN_RUNS) {
    const groups = Object.fromEntries(texts.map((text, index) => [GROUP_KEYS[index], text]));
    const baseline = search.baseline && { baseline: search.baseline };
    return { ...groups, ...baseline, ...threshold };
  }
  const numbers = parseRunNumbers(search.runs);
  if (numbers.length < MIN_RUNS) return null;
  const requested = Number(search.baseline);
  const baseline = numbers.includes(requested) ? requested : numbers[0];
  return { runs: numbers.join(','), baseline: String(baseline), ...threshold };
}

/** Search parameters that compare a repeated study's steps with each other. */
export const studySearch = (study: number, steps: number): CompareSearch =>
  withGroups(
    {},
    GROUP_KEYS.slice(0, steps).map((_, index) => `study:${study}/step:${index + 1}`),
  );
