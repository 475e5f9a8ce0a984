import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Event, Run } from '../../api';
import { gaugeOf, gaugeOfReport } from '../gauge/gauge';
import { latencyOf, tilesOf } from '../run/tiles';
import { countOf, mergeBuckets } from '../series/histogram';
import { MAX_POINTS, TimeSeries } from '../series/time-series';
import { type SampleEvent, windowOf } from '../series/window';
import { phaseBar, remainingMs } from './phase-bar';
import { foldFinishedRun, RunFold } from './run-fold';
import { foldSeries } from './series-view';
import { timeRange } from './time-range';

/** A run as the server told it: 4k random reads, direct, 0.4 s of ramp, 1.2 s measured in windows of 200 ms. */
const RECORDED = readFileSync('src/model/fixtures/direct-randread.ndjson', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Event);
const isSample = (event: Event): event is SampleEvent => event.type === 'sample';
const SAMPLES = RECORDED.filter(isSample);

function foldUntil(last: (event: Event) => boolean): RunFold {
  const fold = new RunFold();
  for (const event of RECORDED) {
    fold.apply(event);
    if (last(event)) break;
  }
  return fold;
}
const whole = () => foldUntil(() => false);

describe('a recorded run', () => {
  it('ends with its report, and samples add up to it', () => {
    const fold = whole();
    const report = fold.result?.report;
    expect(fold.status).toBe('done');
    expect(fold.totals.read.ios).toBe(report?.read.ios);
    expect(fold.totals.read.bytes).toBe(report?.read.bytes);
    expect(fold.totals.read.lat_ns).toEqual(report?.read.lat_ns.buckets);
    expect(fold.totals.length_ms).toBeCloseTo(report?.duration_ms ?? 0, -1);
  });

  it('has the same gauge live and final', () => {
    const { totals, result } = whole();
    if (!result) throw new Error('the recorded run has a report');
    const run = { direct: true, mode: 'direct' as const };
    const [live, final] = [gaugeOf({ ...totals, ...run }), gaugeOfReport(result.report, run)];
    expect(live.issued).toEqual(final.issued);
    expect([live.servedBy, final.servedBy]).toEqual([3, 3]);
    expect(
      Math.abs((live.reached?.ios ?? 0) - (final.reached?.ios ?? 0)) / (final.reached?.ios ?? 1),
    ).toBeLessThan(0.05);
  });

  it('leaves the ramp out of the sums, and before 0 on the axis', () => {
    const fold = whole();
    const view = foldSeries(fold);
    expect(view.length).toBe(SAMPLES.length);
    expect(view.seconds(0)).toBeCloseTo(-0.2, 1);
    expect(view.seconds(view.length - 1)).toBeCloseTo(1.2, 1);
    expect(timeRange(fold).from).toBeCloseTo(-0.4, 1);
  });

  it('puts the axis where the measured window will begin while the ramp goes on', () => {
    const fold = foldUntil(isSample);
    expect(fold.measure_begin_ms).toBeNull();
    expect(foldSeries(fold).seconds(0)).toBeCloseTo(-0.2, 1);
    expect(timeRange(fold).to).toBeGreaterThanOrEqual(1.2);
  });

  it('shows the figures of the last second, then those of the report', () => {
    const live = foldUntil((event) => event.seq === SAMPLES.at(-1)?.seq);
    expect(tilesOf(live)[0]?.below).toMatch(/^mean so far/);
    const report = whole().result?.report;
    const [iops, , p50] = tilesOf(whole());
    expect(iops?.below).toBe(`${report?.read.ios.toLocaleString('en-US')} I/Os in all`);
    expect(p50?.figure.unit).toBe('µs');
    expect(report && countOf(latencyOf(report))).toBe(report?.read.ios);
  });
});

describe('order', () => {
  it('ignores what it already has and refuses what comes too early', () => {
    const fold = new RunFold();
    const [first, second, third] = RECORDED;
    if (!first || !second || !third) throw new Error('the recording is longer than three events');
    expect(fold.apply(first)).toBe(true);
    expect(fold.apply(third)).toBe(false);
    expect(fold.lastSeq).toBe(0);
    expect(fold.apply(first)).toBe(true);
    expect(fold.apply(second)).toBe(true);
    expect(fold.lastSeq).toBe(1);
  });

  it('is the same whether it is folded at once or resumed', () => {
    const resumed = foldUntil((event) => event.seq === 14);
    for (const event of RECORDED.slice(9)) resumed.apply(event);
    expect(resumed.totals).toEqual(whole().totals);
    expect(resumed.series.points).toEqual(whole().series.points);
  });
});

describe('the phase bar', () => {
  it('shows what is done, now and to come', () => {
    const fold = foldUntil((event) => event.type === 'phase' && event.phase === 'measure');
    const states = phaseBar(fold, fold.now_ms + 600).map(({ phase, state }) => `${phase} ${state}`);
    expect(states).toEqual([
      'layout done',
      'guard done',
      'invalidate done',
      'ramp done',
      'measure now',
    ]);
    expect(phaseBar(fold, fold.now_ms + 600).at(-1)?.fraction).toBeCloseTo(0.5, 1);
    expect(remainingMs(fold, fold.now_ms + 600)).toBeCloseTo(600, -1);
  });

  it('knows what is to come as soon as the job was accepted', () => {
    const fold = foldUntil((event) => event.type === 'accepted');
    expect(phaseBar(fold, 0).map(({ phase }) => phase)).toEqual([
      'layout',
      'guard',
      'invalidate',
      'ramp',
      'measure',
    ]);
    expect(remainingMs(fold, 0)).toBe(1600);
  });

  it.each(['flush', 'clean_up'] as const)(
    'does not begin to count again in what comes behind the measured time: %s',
    (phase) => {
      const fold = foldUntil(
        (event) => event.type === 'phase' && event.phase === 'measure' && event.state === 'end',
      );
      expect(remainingMs(fold, fold.now_ms)).toBe(0);
      fold.apply({
        seq: fold.lastSeq + 1,
        t_ms: fold.now_ms,
        type: 'phase',
        phase,
        state: 'begin',
      });
      expect(phaseBar(fold, fold.now_ms).at(-1)).toMatchObject({ phase, state: 'now' });
      expect(remainingMs(fold, fold.now_ms)).toBeNull();
    },
  );

  it('stops where a run ended early', () => {
    const fold = foldUntil((event) => event.type === 'phase' && event.phase === 'measure');
    fold.apply({
      seq: fold.lastSeq + 1,
      t_ms: fold.now_ms,
      type: 'status',
      status: 'interrupted',
      at_ms: 0,
      reason: 'the server went away',
    });
    expect(phaseBar(fold, fold.now_ms).every(({ state }) => state === 'done')).toBe(true);
    expect([fold.reason, remainingMs(fold, fold.now_ms)]).toEqual(['the server went away', null]);
  });
});

it('a stored run folds to the same end without its samples', () => {
  const { result } = whole();
  const fold = foldFinishedRun({
    status: 'done',
    report: result?.report,
    verdict: result?.verdict,
    findings: result?.findings,
    samples: 9000,
  } as unknown as Run);
  expect(fold.result?.report).toEqual(result?.report);
  expect(fold.phases.map(({ phase }) => phase)).toContain('measure');
});

describe('the course of a long run', () => {
  let course: TimeSeries;
  const [sample] = SAMPLES;
  if (!sample) throw new Error('the recording has samples');
  const add = (n: number) => {
    for (let i = 0; i < n; i += 1)
      course.add({ ...windowOf(sample), phase: 'measure', end_ms: (i + 1) * 100, length_ms: 100 });
  };
  beforeEach(() => {
    course = new TimeSeries();
  });

  it.each([1, MAX_POINTS, MAX_POINTS + 1, 5000])(
    'of %i windows keeps every I/O in at most as many points as can be drawn',
    (n) => {
      add(n);
      expect(course.points.length).toBeLessThanOrEqual(MAX_POINTS);
      const { ios, length, counted } = course.points.reduce(
        (sum, { window }) => ({
          ios: sum.ios + window.read.ios,
          length: sum.length + window.length_ms,
          counted: sum.counted + countOf(window.read.lat_ns),
        }),
        { ios: 0, length: 0, counted: 0 },
      );
      expect([ios, length, counted]).toEqual([
        n * sample.read.ios,
        n * 100,
        n * countOf(sample.read.lat_ns),
      ]);
    },
  );

  it('has exact percentiles in joined points', () => {
    add(2 * MAX_POINTS);
    const joined = mergeBuckets(sample.read.lat_ns, sample.read.lat_ns);
    expect(course.points[0]?.window.read.lat_ns).toEqual(joined);
    expect(course.points[0]?.row.read_iops).toBeCloseTo(sample.read.ios * 10);
  });
});
