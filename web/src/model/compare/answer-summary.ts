// Summary of a comparison with several groups. Groups with the same verdict are listed together,
// so that the verdict and its reason are stated once.
import type { Change, ChangeVerdict, ComparedMetric, Comparison } from '../../api';
import { NBSP } from '../format/numbers';
import {
  areSingleRuns,
  changeText,
  countDirections,
  intervalText,
  metricName,
  runsOfGroup,
  VERDICTS,
} from './metrics';

type Compared = Pick<Comparison, 'answers' | 'baseline' | 'groups' | 'metrics' | 'runs'>;

export interface AnswerSummary {
  /** Number of groups by verdict. */
  title: string;
  /** Label and lines for each verdict. */
  rows: { label: string; lines: string[] }[];
}

/** As in the server's sentences: the first of these metrics that both groups have. */
const HEADLINES = [
  'read_iops',
  'write_iops',
  'trim_iops',
  'read_lat_p99_ns',
  'write_lat_p99_ns',
  'sync_lat_p99_ns',
] as const;

const ORDER: readonly ChangeVerdict[] = [
  'better',
  'worse',
  'equivalent',
  'undecided',
  'not_comparable',
];

interface Answer {
  group: number;
  sentence: string;
  verdict: ChangeVerdict;
  metric: ComparedMetric | undefined;
  change: Change | undefined;
}

/** Null if sentences are short enough: at most one group is undecided or not comparable. */
export function summarizeAnswers(comparison: Compared): AnswerSummary | null {
  const answers = toAnswers(comparison);
  const of = (verdict: ChangeVerdict) => answers.filter((answer) => answer.verdict === verdict);
  if (of('undecided').length < 2 && of('not_comparable').length < 2) return null;
  const shown = ORDER.filter((verdict) => of(verdict).length > 0);
  const counts = shown.map((verdict) => countText(of(verdict).length, answers.length, verdict));
  return {
    title: `${titleStart(comparison)}: ${counts.join(', ')}.`,
    rows: shown.map((verdict) => ({
      label: VERDICTS[verdict],
      lines: linesOf(verdict, of(verdict), comparison),
    })),
  };
}

function titleStart({ groups, baseline }: Compared): string {
  const each = areSingleRuns({ groups }) ? ', one run each' : '';
  return `Compared with ${groups[baseline]?.label}${each}`;
}

const countText = (count: number, total: number, verdict: ChangeVerdict) =>
  `${count === total ? `all ${total}` : count} ${VERDICTS[verdict].toLowerCase()}`;

/** The server sends one sentence per group except the baseline. */
function toAnswers({ answers, groups, baseline, metrics }: Compared): Answer[] {
  const others = groups.flatMap((_, group) => (group === baseline ? [] : [group]));
  return others.map((group, index) => {
    const metric = HEADLINES.map((name) => metrics.find((metric) => metric.name === name)).find(
      (metric) => metric?.changes[group],
    );
    const change = metric?.changes[group] ?? undefined;
    const isComparable = !groups[group]?.obstacle && change;
    const verdict = isComparable ? (change.verdict ?? 'undecided') : 'not_comparable';
    return { group, sentence: answers[index] ?? '', verdict, metric, change };
  });
}

function linesOf(
  verdict: ChangeVerdict,
  answers: readonly Answer[],
  comparison: Compared,
): string[] {
  if (verdict === 'undecided') return undecidedLines(answers, comparison);
  if (verdict === 'not_comparable') return obstacleLines(answers, comparison);
  return answers.map(({ sentence }) => sentence);
}

/** The changes by metric, followed by the reasons. */
function undecidedLines(answers: readonly Answer[], comparison: Compared): string[] {
  const directions = countDirections(comparison.metrics);
  const changes = groupBy(answers, ({ metric }) => metric).flatMap(([metric, answers]) => {
    const texts = answers.map((answer) => changeOf(answer, comparison));
    return metric ? `${metricName(metric, directions)}: ${texts.join(', ')}` : [];
  });
  const reasons = answers.map(({ change }) => change?.reason ?? '');
  const cautions = answers.map(cautionOf);
  return [...new Set([...changes, ...reasons, ...cautions])].filter(Boolean);
}

/** For example, `#12 +4.10 %`, or `after +4.10 % (−1.00 to +9.20 %)`. */
function changeOf({ group, metric, change }: Answer, comparison: Compared): string {
  const runs = runsOfGroup(comparison, group);
  const interval = change && intervalText(change);
  const text = metric && changeText(metric, runs, group);
  return `${comparison.groups[group]?.label}${NBSP}${text}${interval && ` (${interval})`}`;
}

/** The text that the server appends to all sentences if the groups have different rate limits. */
function cautionOf({ sentence, change }: Answer): string {
  const reason = change?.reason ?? '';
  const end = reason && sentence.includes(reason) ? reason : ').';
  const start = sentence.lastIndexOf(end);
  return start < 0 ? '' : sentence.slice(start + end.length).trim();
}

/** For example, `#12, #13: #11 has no complete result.` Most reasons already name their group. */
function obstacleLines(answers: readonly Answer[], { groups }: Compared): string[] {
  const labelOf = ({ group }: Answer) => groups[group]?.label ?? '';
  const reasonOf = ({ group, sentence }: Answer) => groups[group]?.obstacle ?? sentence;
  return groupBy(answers, reasonOf).map(([reason, answers]) => {
    const isNamed = answers.every((answer) => reason.includes(labelOf(answer)));
    return isNamed ? reason : `${answers.map(labelOf).join(', ')}: ${reason}`;
  });
}

function groupBy<T, Key>(items: readonly T[], keyOf: (item: T) => Key): [Key, T[]][] {
  const groups = new Map<Key, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    groups.set(keyOf(item), [...group, item]);
  }
  return [...groups];
}
