import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Comparison, Difference } from '../../api';
import { summaryOf } from '../fixtures/summary';
import {
  differenceName,
  equalText,
  excludedGroups,
  groupValue,
  isKnownDifference,
  unrecordedText,
} from './differences';

const difference = (name: string, ...values: (string | null)[]): Difference => ({
  name,
  values,
  is_harmful: false,
});

/** A comparison of #1 with #2, which may be imported or excluded. */
const comparisonOf = (source: 'leadline' | 'fio' = 'leadline', excluded: number[] = []) =>
  ({
    baseline: 0,
    groups: [
      { label: '#1', runs: ['#1'], excluded: [], obstacle: null },
      {
        label: '#2',
        runs: ['#2'],
        excluded,
        obstacle: excluded.length > 0 ? '#2 has no complete result.' : null,
        workloads: ['randread · 4 KiB'],
        hosts: ['db1 (Linux 6.18)'],
      },
    ],
    runs: [
      { group: 0, run: summaryOf(1) },
      { group: 1, run: summaryOf(2, { source }) },
    ],
    equal_settings: 99,
    equal_host_facts: 0,
  }) as unknown as Comparison;

it.each([
  ['iodepth', 'iodepth', true],
  ['ramp_ms', 'ramp_time', true],
  ['jobs[1].bs', 'bs (job 2)', true],
  ['fio.direct', 'direct', true],
  ['jobs[1].targets.length', 'Target size (job 2)', false],
  ['cpu_model', 'CPU model', false],
  ['read verdict', 'Read verdict', false],
  ['finding foreign_io', 'Finding: foreign I/O', false],
  ['finding new_code', 'Finding: new code', false],
])('names %s: %s', (name, text, isIdentifier) =>
  expect(differenceName(name)).toEqual({ text, isIdentifier }),
);

it("uses the server's names", () => {
  const source = readFileSync('../compare/src/fact_names.rs', 'utf8');
  const [facts = '', findings = ''] = source.split('fn finding_name');
  const entries = (text: string) => [...text.matchAll(/"([a-z_.]+)" => "(.+)"/g)];
  expect(entries(facts).length).toBeGreaterThan(10);
  for (const [, name = '', text = ''] of entries(facts))
    expect(differenceName(name).text.toLowerCase()).toBe(text.toLowerCase());
  for (const [, code = '', text = ''] of entries(findings))
    expect(differenceName(`finding ${code}`).text).toBe(`Finding: ${text}`);
});

it('formats values, and shows findings of imported runs as unknown', () => {
  const verdict = difference('read verdict', 'page_cache', 'device');
  expect([0, 1].map((group) => groupValue(comparisonOf(), verdict, group))).toEqual([
    'Page cache',
    'Device',
  ]);
  const finding = difference('finding busy_host', 'yes', 'no');
  expect(groupValue(comparisonOf(), finding, 1)).toBe('no');
  expect(groupValue(comparisonOf('fio'), finding, 1)).toBe('–');
  expect(groupValue(comparisonOf('leadline', [0]), finding, 1)).toBe('');
});

it.each<[string, boolean, Difference, 'leadline' | 'fio']>([
  ['different values', true, difference('kernel', '6.1', '6.12'), 'leadline'],
  ['one value that is not recorded', false, difference('kernel', '6.1', 'unknown'), 'fio'],
  ['one missing verdict', false, difference('read verdict', 'device', null), 'fio'],
  ['one finding', true, difference('finding busy_host', 'yes', 'no'), 'leadline'],
  ['a finding next to an imported run', false, difference('finding busy_host', 'yes', 'no'), 'fio'],
])('recognizes a known difference: %s', (_, expected, found, source) =>
  expect(isKnownDifference(comparisonOf(source), found)).toBe(expected),
);

it('counts host facts that are not recorded', () =>
  expect(
    unrecordedText(comparisonOf('fio'), [
      difference('kernel', '6.1', 'unknown'),
      difference('cpus', '2', 'unknown'),
    ]),
  ).toBe('2 host facts are not recorded for #2.'));

it('counts equal settings only if there is something to compare', () => {
  expect(equalText(comparisonOf())).toBe('Equal: 99 settings.');
  expect(equalText(comparisonOf('leadline', [0]))).toBe(
    'Nothing to compare: only #1 has a complete result.',
  );
});

it('describes excluded groups', () => {
  expect(excludedGroups(comparisonOf())).toEqual([]);
  expect(excludedGroups(comparisonOf('leadline', [0]))).toEqual([
    { label: '#2', text: 'randread · 4 KiB; db1 (Linux 6.18)' },
  ]);
});
