import { expect, it } from 'vitest';
import type { Look, LookOutcome, UntilDecided } from '../../api';
import { confidenceText, lookRows, lookScale, looksText } from './looks';

const LOOKS = [
  { pairs: 8, confidence_percent: 99.2 },
  { pairs: 12, confidence_percent: 99 },
  { pairs: 20, confidence_percent: 96.8 },
];
const UNTIL: UntilDecided = { metrics: ['read_iops'], threshold_percent: 2, looks: LOOKS };

const look = (index: number, outcome: LookOutcome): Look => ({
  ...(LOOKS[index] as (typeof LOOKS)[0]),
  outcome,
  sentence: '',
  reasons: [],
  changes: [
    {
      metric: 'read_iops',
      percent: -5,
      interval_percent: { low: -12, high: 1 },
      verdict: 'undecided',
      pairs: 8,
    },
  ],
});

it('lists past and future looks', () => {
  const notes = (looks: Look[]) =>
    lookRows({ until_decided: UNTIL, looks }).map(({ change, note }) => note || change?.percent);
  expect(notes([])).toEqual(['Pending', 'Pending', 'Pending']);
  expect(notes([look(0, 'undecided')])).toEqual([-5, 'Pending', 'Pending']);
  expect(notes([look(0, 'undecided'), look(1, 'decided')])).toEqual([-5, -5, 'Not needed']);
  expect(notes([look(1, 'undecided')])).toEqual(['Not needed', -5, 'Pending']);
  expect(notes([look(0, 'not_comparable')])[0]).toBe('Not comparable');
  expect(lookRows({ until_decided: null, looks: [] })).toEqual([]);
});

it('shows all looks on one scale', () => {
  expect(lookScale({ until_decided: UNTIL, looks: [look(0, 'undecided')] }).limit).toBeCloseTo(
    13.2,
  );
  expect(lookScale({ until_decided: UNTIL, looks: [] }).limit).toBe(5);
});

it('describes the schedule', () => {
  expect(looksText(UNTIL)).toBe(
    'Ends as soon as Read IOPS is decided. Interim looks after 8, 12, and 20 pairs.',
  );
  expect(confidenceText(99.19999)).toBe('99.2 %');
});
