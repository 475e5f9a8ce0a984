import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Event, Report } from '../../api';
import { silenceMs, toBands } from './missing-time';
import { RunFold } from './run-fold';
import { mergeSpans } from './silences';

const EVENTS = readFileSync('src/model/fixtures/direct-randread.ndjson', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Event);
const SAMPLE = EVENTS.find((event) => event.type === 'sample');
const plain = (s: string) => s.replaceAll('\u00a0', ' ');

/** A fold that is in the middle of the measurement. */
function liveFold() {
  const fold = new RunFold();
  for (const event of EVENTS) if (event.seq <= 18) fold.apply(event);
  return fold;
}

/** Appends a sample for each value of `silent_ms`, 0.5 s apart. No I/O completes in the samples. */
function addSilence(fold: RunFold, silent_ms: readonly (number | null)[]) {
  for (const silent of silent_ms) {
    const none = { ios: 0, bytes: 0, lat_ns: [] };
    const t_ms = fold.now_ms + 500;
    if (SAMPLE?.type !== 'sample') throw new Error('the recorded run has samples');
    fold.apply({ ...SAMPLE, seq: fold.lastSeq + 1, t_ms, read: none, silent_ms: silent });
  }
}

function withReport(changes: Partial<Report>) {
  const fold = new RunFold();
  for (const event of EVENTS) fold.apply(event);
  if (!fold.result) throw new Error('the recorded run has a report');
  fold.result = { ...fold.result, report: { ...fold.result.report, ...changes } };
  return fold;
}

it('has a notice after two seconds until an I/O completes', () => {
  const fold = liveFold();
  expect(silenceMs(fold)).toBeNull();
  addSilence(fold, [null, 500, 1000, 1500]);
  expect(silenceMs(fold)).toBeNull();
  addSilence(fold, [2000, 2500]);
  expect(silenceMs(fold)).toBe(2500);
  addSilence(fold, [0]);
  expect(silenceMs(fold)).toBeNull();
});

it('has a line at each level change', () => {
  const change = { t_ms: 5000, direction: 'write', before_iops: 2000, after_iops: 1500 } as const;
  const fold = withReport({ level_changes: [change] });
  const line = toBands(fold).find(({ kind }) => kind === 'change');
  expect(plain(line?.label ?? '')).toBe('Writes: 2,000 → 1,500 IOPS');
  expect(line?.from).toBe(line?.to);
  expect(line?.from).toBeCloseTo((5000 - (fold.measure_begin_ms ?? 0)) / 1000);
});

it('has one band per live stall', () => {
  const fold = liveFold();
  const start = (fold.now_ms - (fold.measure_begin_ms ?? 0)) / 1000;
  addSilence(fold, [500, 1000, 1500, 0, 500, 1000]);
  const bands = toBands(fold);
  expect(bands.map(({ kind, label }) => [kind, plain(label)])).toEqual([
    ['stall', 'No I/O completed for 1.5 s'],
    ['stall', 'No I/O completed for 1 s'],
  ]);
  expect(bands[0]?.from).toBeCloseTo(start);
  expect(bands[0]?.to).toBeCloseTo(start + 1.5);
});

it('has no bands for slow storage that completes regularly', () => {
  const fold = liveFold();
  fold.totals.read = { ios: 10, bytes: 0, lat_ns: [[1900, 10]] };
  addSilence(fold, [500, 1000, 1500]);
  expect(toBands(fold)).toEqual([]);
});

it("has all jobs' stalls and the report's pauses", () => {
  const stalls = { threshold_ms: 1000, count: 1, total_ms: 0, longest_ms: 0, share: 0, workers: 1 };
  const begin = liveFold().measure_begin_ms ?? 0;
  const jobOf = (start_ms: number) => ({
    ...withReport({}).result?.report.jobs[0],
    stalls: { ...stalls, spans: [{ start_ms: begin + start_ms, duration_ms: 2000 }] },
  });
  const fold = withReport({
    jobs: [jobOf(1000), jobOf(2500)] as Report['jobs'],
    pauses: [{ start_ms: begin + 6000, duration_ms: 800, cause: 'not_scheduled' }],
  });
  expect(toBands(fold).map(({ kind, label }) => `${kind}: ${plain(label)}`)).toEqual([
    'stall: No I/O completed for 3.5 s',
    'pause: Runner paused for 800 ms',
  ]);
  expect(toBands(fold).map(({ from }) => Math.round(from))).toEqual([1, 6]);
});

it('has no bands for runs recorded before stalls were detected', () => {
  expect(toBands(withReport({ pauses: undefined as unknown as [] }))).toEqual([]);
});

it('merges overlapping spans', () => {
  const span = (start_ms: number, end_ms: number) => ({ start_ms, end_ms });
  expect(mergeSpans([span(5, 8), span(0, 2), span(1, 3), span(6, 7)])).toEqual([
    span(0, 3),
    span(5, 8),
  ]);
});
