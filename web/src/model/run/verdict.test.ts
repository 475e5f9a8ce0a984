import { describe, expect, it } from 'vitest';
import type { Finding, Run, Verdict, Verdicts } from '../../api';
import { areColdReads, isServedFromMemory, servedByNote, topRemedy, verdictLines } from './verdict';

const plain = (text: string | undefined) => text?.replaceAll('\u00a0', ' ');
const verdict = (name: Verdict['class'], shares: Verdict['shares'], uncertainty = 0): Verdict => ({
  class: name,
  sentence: 'Served by the device.',
  shares,
  byte_shares: shares,
  modifiers: [],
  uncertainty,
  evidence: {},
  proof: [],
});

it.each<[Verdict, string, string]>([
  [verdict('device', { device: 1 }), 'Device 100 %', ''],
  [
    verdict('deferred_write', { device: 0.02, page_cache: 0.98 }),
    'Still in memory 98 %',
    'I/Os served by: page cache 98 %, device 2 %',
  ],
  [
    verdict('unwritten', { device: 0, unwritten: 1 }, 0.031),
    'Never written 100 %',
    'I/Os served by: unwritten blocks 100 %, device 0 % (±3.10 percentage points)',
  ],
  [verdict('foreign', { device: 1 }), 'Shared device', ''],
  [verdict('unknown', {}), 'Unknown', ''],
])('%j has the badge %s', (read, label, shares) => {
  const [line] = verdictLines({ read, write: null });
  expect([plain(line?.label), plain(line?.detail), line?.direction]).toEqual([
    label,
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
])('reads of %s and writes of %s are served from memory: %s', (read, write, expected) => {
  const of = (name: Verdict['class'] | null) => (name ? verdict(name, {}) : null);
  expect(isServedFromMemory({ read: of(read), write: of(write) })).toBe(expected);
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

describe('topRemedy', () => {
  const direct = finding('serious', { direct: 1 });
  it.each<[string, Finding[], Finding | null]>([
    ['is the most severe finding', [finding('warning', { numjobs: 2 }), direct], direct],
    ['needs a patch', [finding('serious', {}), finding('serious', null)], null],
    ['is not a note', [finding('note', { runtime: '60s' })], null],
  ])('%s', (_, findings, expected) => expect(topRemedy(findings)).toBe(expected));
});

it.each<[string, Parameters<typeof servedByNote>[0], string | null]>([
  ['memory', { read: verdict('page_cache', { page_cache: 1 }) }, 'from memory, not the disk'],
  ['the disk', { read: verdict('device', { device: 1 }) }, null],
  ['both', { read: verdict('page_cache', {}), write: verdict('device', {}) }, null],
  ['nothing yet', null, null],
])('notes what the IOPS measure when served by %s', (_, verdicts, note) =>
  expect(servedByNote(verdicts)).toBe(note),
);

it('lists verdicts with label, share and layer', () => {
  const read = {
    class: 'page_cache',
    sentence: 'Served from memory.',
    byte_shares: {},
    modifiers: [
      { kind: 'readahead', factor: 8, bytes: null },
      { kind: 'foreign', factor: null, bytes: 4 << 20 },
    ],
    shares: { page_cache: 0.9999 },
  };
  const lines = verdictLines({ read, write: null } as unknown as Verdicts);
  expect(lines.map(({ label, layer, sentence }) => [plain(label), layer, sentence])).toEqual([
    ['Page cache 99.99 %', 'page_cache', 'Served from memory.'],
  ]);
  expect(plain(lines[0]?.detail)).toContain(' · readahead 8× · 4 MiB read by other programs');
  expect(verdictLines(null)).toEqual([]);
});

it.each<[Run['mode'], string, string | null, boolean]>([
  ['buffered', 'device', null, true],
  ['buffered', 'mixed', null, true],
  ['buffered', 'page_cache', null, false],
  ['direct', 'device', null, false],
  ['buffered', 'device', 'device', false],
])('finds cold reads: %s, read %s, write %s', (mode, read, write, expected) => {
  const verdict = (name: string | null) => name && { class: name };
  const verdicts = { read: verdict(read), write: verdict(write) } as unknown as Verdicts;
  expect(areColdReads({ mode }, verdicts)).toBe(expected);
});
