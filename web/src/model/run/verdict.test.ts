import { describe, expect, it } from 'vitest';
import type { Finding, Proof, Verdict } from '../../api';
import { isServedFromMemory, proofRow, servedByNote, topRemedy, verdictLines } from './verdict';

const plain = (text: string | undefined) => text?.replaceAll('\u00a0', ' ');
const verdict = (name: Verdict['class'], shares: Verdict['shares'], uncertainty = 0): Verdict => ({
  class: name,
  sentence: 'So it was.',
  shares,
  uncertainty,
  evidence: {},
  proof: [],
});

it.each<[Verdict, string, string]>([
  [verdict('device', { device: 1 }), 'device 100 %', 'of the bytes: device 100 %'],
  [
    verdict('deferred_write', { device: 0.02, page_cache: 0.98 }),
    'still in memory 98 %',
    'of the bytes: page cache 98 %, device 2 %',
  ],
  [
    verdict('unwritten', { device: 0, unwritten: 1 }, 0.031),
    'never written 100 %',
    'of the bytes: blocks never written 100 %, device 0 %, each ± 3.10 points',
  ],
  [verdict('foreign', { device: 1 }), 'device, shared', 'of the bytes: device 100 %'],
  [verdict('unknown', {}), 'unknown', ''],
])('%j has the badge %s', (read, word, shares) => {
  const [line] = verdictLines({ read, write: null });
  expect([plain(line?.label), plain(line?.shares), line?.direction]).toEqual([
    word,
    shares,
    'read',
  ]);
});

it.each<[Verdict['class'] | null, Verdict['class'] | null, boolean]>([
  ['page_cache', null, true],
  [null, 'deferred_write', true],
  ['page_cache', 'deferred_write', true],
  ['page_cache', 'device', false],
  ['mixed', null, false],
  [null, null, false],
])('reads of %s and writes of %s are memory’s alone: %s', (read, write, is) => {
  const of = (name: Verdict['class'] | null) => (name ? verdict(name, {}) : null);
  expect(isServedFromMemory({ read: of(read), write: of(write) })).toBe(is);
});

const proof = (change: Partial<Proof>): Proof => ({
  layer: 'device',
  name: 'bytes read by vda',
  unit: 'bytes',
  difference: 0,
  ...change,
});

it.each<[Partial<Proof>, string[]]>([
  [
    { before: 4096, after: 1_052_672, difference: 1_048_576 },
    ['4,096', '1,052,672', '+1,048,576', '+1 MiB'],
  ],
  [{ before: 10, after: 4, difference: -6 }, ['10', '4', '−6', '']],
  [{ difference: 853_333, unit: 'I/Os' }, ['–', '–', '+853,333', '']],
  [{ before: 7, after: 7 }, ['7', '7', '0', '']],
])('a row of %j', (change, words) => {
  const { before, after, difference, short } = proofRow(proof(change));
  expect([before, after, difference, plain(short)]).toEqual(words);
});

const finding = (severity: Finding['severity'], patch: Finding['patch']): Finding => ({
  code: 'c',
  severity,
  sentence: '',
  evidence: {},
  remedy: '',
  patch,
  patch_label: patch ? 'Rerun' : null,
});

describe('the rerun that matters', () => {
  const direct = finding('serious', { direct: 1 });
  it.each<[string, Finding[], Finding | null]>([
    ['is that of the gravest finding', [finding('warning', { numjobs: 2 }), direct], direct],
    ['changes something', [finding('serious', {}), finding('serious', null)], null],
    ['is not that of a note', [finding('note', { runtime: '60s' })], null],
  ])('%s', (_, findings, expected) => expect(topRemedy(findings)).toBe(expected));
});

it.each<[string, Parameters<typeof servedByNote>[0], string | null]>([
  ['memory', { read: verdict('page_cache', { page_cache: 1 }) }, 'memory’s, not the disk’s'],
  ['the disk', { read: verdict('device', { device: 1 }) }, null],
  ['both', { read: verdict('page_cache', {}), write: verdict('device', {}) }, null],
  ['nobody yet', null, null],
])('warns whose the number is where %s answered', (_, verdicts, whose) =>
  expect(servedByNote(verdicts)).toBe(whose),
);
