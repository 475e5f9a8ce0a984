import { describe, expect, it } from 'vitest';
import type { ComparedRun, Comparison, Difference, RunSummary, VerdictClass } from '../../api';
import { summaryOf as summary } from '../fixtures/summary';
import { directRun, directRunCandidates, directRunFilter, hasDirectRun } from './direct-run';

const WARM = { direct: false, verdict_class: 'page_cache' } as const;
const compared = (run: RunSummary, change: Partial<ComparedRun> = {}) =>
  ({
    run,
    duration_ms: 1000,
    verdict: { read: { class: run.verdict_class }, write: null },
    ...change,
  }) as ComparedRun;

describe('directRunCandidates', () => {
  const warm = summary(9, WARM);
  const numbers = (...list: RunSummary[]) => directRunCandidates(warm, list);

  it('returns the newest runs, excluding the run itself', () => {
    const list = [3, 12, 9, 5, 7].map((number) => summary(number));
    expect(directRunCandidates(summary(9), list)).toEqual([12, 7, 5]);
  });

  it.each<[string, Partial<RunSummary>]>([
    ['a different block size', { bs: '8k' }],
    ['a different depth', { iodepth: 1 }],
    ['a different target', { target: '/srv/t2' }],
    ['a different device', { device: 'vdb' }],
    ['a different pattern', { rw: 'read' }],
    ['more workers', { numjobs: 2 }],
    ['more jobs', { jobs: 2 }],
    ['a different host', { host: 'other' }],
    ['a different verdict', { verdict_class: 'foreign' }],
    ['a buffered job', { direct: false }],
  ])('excludes runs with %s', (_, change) => {
    expect(numbers(summary(3))).toEqual([3]);
    expect(numbers(summary(3, change))).toEqual([]);
  });

  it('has a filter if the target can be quoted', () => {
    expect(directRunFilter(warm)).toBe(
      'status:done verdict:device rw:randread device:vda "/srv/t1"',
    );
    expect(directRunFilter(summary(1, { target: '/srv/a"b' }))).toBeNull();
    expect(directRunFilter(summary(1, { device: null }))).toBeNull();
  });
});

/** Comparison of warm run #9 with direct run #12, which differ in the settings `names`. */
function createComparison(
  names: readonly string[],
  direct: Partial<RunSummary> = {},
  verdict: VerdictClass = 'device',
  change = {},
) {
  const differences = names.map(
    (name): Difference => ({
      name,
      values: ['one', 'other'],
      is_harmful: false,
    }),
  );
  const runs = [
    compared(summary(9, WARM)),
    compared(summary(12, { verdict_class: verdict, ...direct }), change),
  ];
  return { runs, setting_differences: differences } as Comparison;
}

describe('directRun', () => {
  it.each<[string, readonly string[], boolean]>([
    ['may differ in the I/O path', ['direct', 'mode', 'targets.alignment'], true],
    ['may differ in the cache state', ['direct', 'cache_state', 'pre_read', 'invalidate'], true],
    [
      'may differ in duration and existing files',
      ['direct', 'runtime_ms', 'ramp_ms', 'steady_state', 'targets.existed'],
      true,
    ],
    ['may differ in the second job', ['direct', 'jobs[1].direct', 'jobs[1].mode'], true],
    ['has the same block size', ['direct', 'bs'], false],
    ['has the same depth', ['direct', 'iodepth'], false],
    ['has the same engine', ['direct', 'ioengine'], false],
    ['has the same region', ['direct', 'targets.size'], false],
    ['has the same target', ['direct', 'targets.path'], false],
    ['has the same rate', ['direct', 'rate_iops'], false],
    ['has the same number of jobs', ['direct', 'jobs'], false],
    ['has the same block size in every job', ['direct', 'jobs[1].bs'], false],
  ])('%s', (_, names, expected) => {
    expect(directRun(createComparison(names), 9)?.run.number ?? null).toBe(expected ? 12 : null);
    expect(hasDirectRun(createComparison(names), 9)).toBe(expected);
  });

  it.each<VerdictClass>([
    'foreign',
    'page_cache',
    'unwritten',
    'amplified',
    'mixed',
    'readahead',
    'unknown',
  ])('is missing with verdict %s, but does not require a rerun', (verdict) => {
    expect(directRun(createComparison(['direct'], {}, verdict), 9)).toBeNull();
    expect(hasDirectRun(createComparison(['direct'], {}, verdict), 9)).toBe(true);
  });

  it('is served by the device in both directions', () => {
    const verdict = { read: { class: 'device' }, write: { class: 'foreign' } };
    expect(directRun(createComparison(['direct'], {}, 'device', { verdict }), 9)).toBeNull();
  });

  it('is finished with a result', () => {
    const failed = createComparison(['direct'], { status: 'failed' }, 'device', {
      duration_ms: null,
    });
    expect([directRun(failed, 9), hasDirectRun(failed, 9)]).toEqual([null, false]);
  });

  it('is on the same host', () =>
    expect(directRun(createComparison(['direct'], { host: 'other' }), 9)).toBeNull());

  it('is not the run itself', () => {
    expect(directRun(createComparison(['direct']), 12)).toBeNull();
    expect(hasDirectRun(createComparison(['direct']), 77)).toBe(false);
  });

  it('ignores differences of other runs', () => {
    const { runs } = createComparison([]);
    const third = compared(summary(13, { bs: '8k' }));
    const differences = [{ name: 'bs', values: ['4096', '4096', '8192'] }];
    const comparison = {
      runs: [...runs, third],
      setting_differences: differences,
    } as unknown as Comparison;
    expect(directRun(comparison, 9)?.run.number).toBe(12);
  });
});
