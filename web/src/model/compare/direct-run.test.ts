import { describe, expect, it } from 'vitest';
import type { ComparedRun, Comparison, Difference, RunSummary, VerdictClass } from '../../api';
import { summaryOf as summary } from '../fixtures/summary';
import { directRun, directRunCandidates, directRunFilter, hasDirectRun } from './direct-run';

const WARM = { direct: false, verdict: 'page_cache' } as const;
const compared = (run: RunSummary, change: Partial<ComparedRun> = {}) =>
  ({
    run,
    duration_ms: 1000,
    verdict: { read: { class: run.verdict }, write: null },
    ...change,
  }) as ComparedRun;

describe('candidates of a list', () => {
  const warm = summary(9, WARM);
  const numbers = (...list: RunSummary[]) => directRunCandidates(warm, list);

  it('are the newest first, a few of them, and not the run itself', () => {
    const list = [3, 12, 9, 5, 7].map((number) => summary(number));
    expect(directRunCandidates(summary(9), list)).toEqual([12, 7, 5]);
  });

  it.each<[string, Partial<RunSummary>]>([
    ['another block size', { bs: '8k' }],
    ['another depth', { iodepth: 1 }],
    ['another target', { target: '/srv/t2' }],
    ['another device', { device: 'vdb' }],
    ['another pattern', { rw: 'read' }],
    ['more clones', { numjobs: 2 }],
    ['more jobs', { jobs: 2 }],
    ['another host', { host: 'other' }],
    ['a number that is not the disk’s', { verdict: 'foreign' }],
    ['a buffered job', { direct: false }],
  ])('are not those with %s', (_, change) => {
    expect(numbers(summary(3))).toEqual([3]);
    expect(numbers(summary(3, change))).toEqual([]);
  });

  it('are found by a filter of the history, where the target can be written in one', () => {
    expect(directRunFilter(warm)).toBe(
      'status:done verdict:device rw:randread device:vda "/srv/t1"',
    );
    expect(directRunFilter(summary(1, { target: '/srv/a"b' }))).toBeNull();
    expect(directRunFilter(summary(1, { device: null }))).toBeNull();
  });
});

/** A warm run #9, and a direct one #12 that differs from it in these settings. */
function check(
  names: readonly string[],
  direct: Partial<RunSummary> = {},
  verdict: VerdictClass = 'device',
  change = {},
) {
  const differ = names.map((name): Difference => ({ name, values: ['one', 'other'] }));
  const runs = [compared(summary(9, WARM)), compared(summary(12, { verdict, ...direct }), change)];
  return { runs, setting_differences: differ } as Comparison;
}

describe('the same job, direct', () => {
  it.each<[string, readonly string[], boolean]>([
    ['differs in its way only', ['direct', 'mode', 'targets.alignment'], true],
    ['needs no cache', ['direct', 'cache_state', 'pre_read', 'invalidate'], true],
    [
      'may go on longer, and find the file there',
      ['direct', 'runtime_ms', 'ramp_ms', 'targets.existed'],
      true,
    ],
    ['is one of several jobs', ['direct', 'jobs[1].direct', 'jobs[1].mode'], true],
    ['has the same block size', ['direct', 'bs'], false],
    ['has the same depth', ['direct', 'iodepth'], false],
    ['has the same engine', ['direct', 'ioengine'], false],
    ['has the same region', ['direct', 'targets.size'], false],
    ['has the same target', ['direct', 'targets.path'], false],
    ['has the same rate', ['direct', 'rate_iops'], false],
    ['has as many jobs', ['direct', 'jobs'], false],
    ['has the same block size in every job', ['direct', 'jobs[1].bs'], false],
  ])('%s', (_, names, is) => {
    expect(directRun(check(names), 9)?.run.number ?? null).toBe(is ? 12 : null);
    expect(hasDirectRun(check(names), 9)).toBe(is);
  });

  it.each<VerdictClass>([
    'foreign',
    'page_cache',
    'unwritten',
    'amplified',
    'mixed',
    'readahead',
    'unknown',
  ])(
    'does not tell what the disk does where its verdict is %s, and need not be done again',
    (verdict) => {
      expect(directRun(check(['direct'], {}, verdict), 9)).toBeNull();
      expect(hasDirectRun(check(['direct'], {}, verdict), 9)).toBe(true);
    },
  );

  it('is the disk’s in both directions', () => {
    const verdict = { read: { class: 'device' }, write: { class: 'foreign' } };
    expect(directRun(check(['direct'], {}, 'device', { verdict }), 9)).toBeNull();
  });

  it('is done, and has a result', () => {
    const broken = check(['direct'], { status: 'failed' }, 'device', { duration_ms: null });
    expect([directRun(broken, 9), hasDirectRun(broken, 9)]).toEqual([null, false]);
  });

  it('ran on the same host', () =>
    expect(directRun(check(['direct'], { host: 'other' }), 9)).toBeNull());

  it('is no other than itself', () => {
    expect(directRun(check(['direct']), 12)).toBeNull();
    expect(hasDirectRun(check(['direct']), 77)).toBe(false);
  });

  it('looks only at what differs between the two', () => {
    const { runs } = check([]);
    const third = compared(summary(13, { bs: '8k' }));
    const differ = [{ name: 'bs', values: ['4096', '4096', '8192'] }];
    const comparison = {
      runs: [...runs, third],
      setting_differences: differ,
    } as unknown as Comparison;
    expect(directRun(comparison, 9)?.run.number).toBe(12);
  });
});
