import { expect, it } from 'vitest';
import type { Change, ComparedMetric, Comparison } from '../../api';
import { summarizeAnswers } from './answer-summary';

const REASON = 'A verdict on 5 metrics requires at least 7 runs per group.';
const CAUTION = 'The groups have different rate limits and reached them.';
const plain = (text: string) => text.replaceAll('\u00a0', ' ');

const change = (percent: number, more: Partial<Change> = {}): Change => ({
  percent,
  paired: false,
  baseline_n: 1,
  n: 1,
  verdict: 'undecided',
  reason: REASON,
  ...more,
});

interface Group {
  obstacle?: string;
  change?: Change;
  sentence: string;
}

/** A comparison of `#1` with these groups. */
function comparisonOf(others: readonly Group[], runs = 1) {
  const groups = [{} as Group, ...others].map(({ obstacle }, index) => ({
    label: `#${index + 1}`,
    runs: Array.from({ length: runs }, () => ''),
    excluded: [],
    obstacle: obstacle ?? null,
  }));
  const metric = {
    name: 'read_iops',
    unit: '1/s',
    at_least: [],
    values: [],
    groups: [],
    changes: [null, ...others.map((group) => group.change ?? null)],
  } as unknown as ComparedMetric;
  return {
    baseline: 0,
    groups,
    runs: groups.map((_, group) => ({ group })),
    metrics: [metric],
    answers: others.map(({ sentence }) => sentence),
  } as unknown as Comparison;
}

const undecided = (percent: number, rest = ''): Group => ({
  change: change(percent),
  sentence: `Undecided: it has a difference (one run each).${rest}`,
});

it('keeps sentences that do not repeat each other', () => {
  const worse = { change: change(-9, { verdict: 'worse', reason: null }), sentence: 'Worse.' };
  expect(summarizeAnswers(comparisonOf([undecided(4)]))).toBeNull();
  expect(summarizeAnswers(comparisonOf([undecided(4), worse]))).toBeNull();
});

it('lists undecided changes together, with each reason once', () => {
  const groups = [undecided(4.1, ` ${REASON}`), undecided(-2), undecided(1300)];
  const summary = summarizeAnswers(comparisonOf(groups));
  expect(summary?.title).toBe('Compared with #1, one run each: all 3 undecided.');
  expect(summary?.rows.map(({ label, lines }) => [label, lines.map(plain)])).toEqual([
    ['Undecided', ['IOPS: #2 +4.10 %, #3 −2 %, #4 14 ×', REASON]],
  ]);
});

it('separates verdicts, and shows intervals', () => {
  const interval_percent = { low: -1, high: 9.2 };
  const summary = summarizeAnswers(
    comparisonOf(
      [
        { change: change(4.1, { interval_percent }), sentence: 'Undecided: (a).' },
        { change: change(-40, { verdict: 'worse', reason: null }), sentence: '#3 is worse.' },
        { change: change(2, { interval_percent }), sentence: 'Undecided: (a).' },
      ],
      8,
    ),
  );
  expect(summary?.title).toBe('Compared with #1: 1 worse, 2 undecided.');
  expect(summary?.rows.map(({ label, lines }) => [label, lines.map(plain)])).toEqual([
    ['Worse', ['#3 is worse.']],
    ['Undecided', ['IOPS: #2 +4.10 % (−1 to +9.20 %), #4 +2 % (−1 to +9.20 %)', REASON]],
  ]);
});

it('shows the caution about rate limits once', () => {
  const groups = [undecided(4, ` ${REASON} ${CAUTION}`), undecided(5, ` ${CAUTION}`)];
  const [row] = summarizeAnswers(comparisonOf(groups))?.rows ?? [];
  expect(row?.lines.slice(1)).toEqual([REASON, CAUTION]);
});

it('lists groups that are not comparable by reason', () => {
  const incomplete = (label: string): Group => ({
    obstacle: `${label} has no complete result.`,
    sentence: `Not comparable: ${label} has no complete result.`,
  });
  const overlapping = { obstacle: 'The groups overlap.', sentence: '' };
  const groups = [incomplete('#2'), overlapping, overlapping];
  expect(summarizeAnswers(comparisonOf(groups))?.rows).toEqual([
    {
      label: 'Not comparable',
      lines: ['#2 has no complete result.', '#3, #4: The groups overlap.'],
    },
  ]);
});
