import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Event, Run } from '../../api';
import { latencyOf } from '../run/reported-latency';
import { toTiles } from '../run/tiles';
import { mergeBuckets, totalCount } from '../series/histogram';
import { MAX_POINTS, TimeSeries } from '../series/time-series';
import { type SampleEvent, toWindow } from '../series/window';
import { phaseBar } from './phase-bar';
import { remainingMs } from './remaining-time';
import { foldFinishedRun, RunFold } from './run-fold';
import { foldSeries } from './series-view';
import { timeRange } from './time-range';

/**
 * A run with 4k direct random reads, a 0.4 s ramp, a 1.2 s measurement, and a sample every
 * 200 ms.
 */
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
const foldAll = () => foldUntil(() => false);

describe('a recorded run', () => {
  it('has samples that add up to its report', () => {
    const fold = foldAll();
    const report = fold.result?.report;
    expect(fold.status).toBe('done');
    expect(fold.totals.read.ios).toBe(report?.read.ios);
    expect(fold.totals.read.bytes).toBe(report?.read.bytes);
    expect(fold.totals.read.lat_ns).toEqual(report?.read.lat_ns.buckets);
    expect(fold.totals.length_ms).toBeCloseTo(report?.duration_ms ?? 0, -1);
  });

  it('has the same gauge live and final', () => {
    const { gauge: live, result } = foldAll();
    const final = result?.report.gauge?.total;
    expect(live?.issued).toEqual(final?.issued);
    expect([live?.served_by, final?.served_by]).toEqual(['device', 'device']);
    expect((live?.reached?.ios ?? 0) / (final?.reached?.ios ?? 1)).toBeCloseTo(1, 1);
  });

  it('excludes the ramp from totals and shows it before 0', () => {
    const fold = foldAll();
    const view = foldSeries(fold);
    expect(view.length).toBe(SAMPLES.length);
    expect(view.seconds(0)).toBeCloseTo(-0.2, 1);
    expect(view.seconds(view.length - 1)).toBeCloseTo(1.2, 1);
    expect(timeRange(fold).from).toBeCloseTo(-0.4, 1);
  });

  it('expects the origin at the end of the ramp', () => {
    const fold = foldUntil(isSample);
    expect(fold.measure_begin_ms).toBeNull();
    expect(foldSeries(fold).seconds(0)).toBeCloseTo(-0.2, 1);
    expect(timeRange(fold).to).toBeGreaterThanOrEqual(1.2);
  });

  it('shows figures for the last second, then from the report', () => {
    const live = foldUntil((event) => event.seq === SAMPLES.at(-1)?.seq);
    expect(toTiles(live)[0]?.note).toMatch(/^mean /);
    const report = foldAll().result?.report;
    const [iops, , p50] = toTiles(foldAll());
    expect(iops?.note).toBe(`${report?.read.ios.toLocaleString('en-US')} I/Os in total`);
    expect(p50?.figure.unit).toBe('µs');
    expect(report && totalCount(latencyOf(report))).toBe(report?.read.ios);
  });
});

describe('order', () => {
  it('ignores duplicates and rejects events after a gap', () => {
    const fold = new RunFold();
    const [first, second, third] = RECORDED;
    if (!first || !second || !third) throw new Error('the recording has too few events');
    expect(fold.apply(first)).toBe(true);
    expect(fold.apply(third)).toBe(false);
    expect(fold.lastSeq).toBe(0);
    expect(fold.apply(first)).toBe(true);
    expect(fold.apply(second)).toBe(true);
    expect(fold.lastSeq).toBe(1);
  });

  it('gives the same result when resumed', () => {
    const resumed = foldUntil((event) => event.seq === 14);
    for (const event of RECORDED.slice(9)) resumed.apply(event);
    expect(resumed.totals).toEqual(foldAll().totals);
    expect(resumed.series.points).toEqual(foldAll().series.points);
  });
});

describe('the phase bar', () => {
  it('shows finished, active and pending phases', () => {
    const fold = foldUntil((event) => event.type === 'phase' && event.phase === 'measure');
    const states = phaseBar(fold, fold.now_ms + 600).map(({ phase, state }) => `${phase} ${state}`);
    expect(states).toEqual([
      'layout done',
      'guard done',
      'invalidate done',
      'ramp done',
      'measure active',
    ]);
    expect(phaseBar(fold, fold.now_ms + 600).at(-1)?.fraction).toBeCloseTo(0.5, 1);
    expect(remainingMs(fold, fold.now_ms + 600)).toBeCloseTo(600, -1);
  });

  it('shows pending phases once the job is accepted', () => {
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
    'has no remaining time after the measurement: %s',
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
      expect(phaseBar(fold, fold.now_ms).at(-1)).toMatchObject({ phase, state: 'active' });
      expect(remainingMs(fold, fold.now_ms)).toBeNull();
    },
  );

  it('ends when the run is interrupted', () => {
    const fold = foldUntil((event) => event.type === 'phase' && event.phase === 'measure');
    fold.apply({
      seq: fold.lastSeq + 1,
      t_ms: fold.now_ms,
      type: 'status',
      status: 'interrupted',
      at_ms: 0,
      reason: 'the server stopped',
    });
    const states = phaseBar(fold, fold.now_ms).map(({ state }) => state);
    expect(states.at(-1)).toBe('stopped');
    expect(states.slice(0, -1).every((state) => state === 'done')).toBe(true);
    expect([fold.reason, remainingMs(fold, fold.now_ms)]).toEqual(['the server stopped', null]);
  });
});

it('folds a finished run without samples', () => {
  const { result } = foldAll();
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

describe('TimeSeries', () => {
  let series: TimeSeries;
  const [sample] = SAMPLES;
  if (!sample) throw new Error('the recording has no samples');
  const add = (n: number) => {
    for (let i = 0; i < n; i += 1)
      series.add({ ...toWindow(sample), phase: 'measure', end_ms: (i + 1) * 100, length_ms: 100 });
  };
  beforeEach(() => {
    series = new TimeSeries();
  });

  it.each([1, MAX_POINTS, MAX_POINTS + 1, 5000])(
    'merges %i windows into a limited number of points and keeps every I/O',
    (n) => {
      add(n);
      expect(series.points.length).toBeLessThanOrEqual(MAX_POINTS);
      const { ios, length, latencies } = series.points.reduce(
        (sum, { window }) => ({
          ios: sum.ios + window.read.ios,
          length: sum.length + window.length_ms,
          latencies: sum.latencies + totalCount(window.read.lat_ns),
        }),
        { ios: 0, length: 0, latencies: 0 },
      );
      expect([ios, length, latencies]).toEqual([
        n * sample.read.ios,
        n * 100,
        n * totalCount(sample.read.lat_ns),
      ]);
    },
  );

  it('has exact percentiles in merged points', () => {
    add(2 * MAX_POINTS);
    const joined = mergeBuckets(sample.read.lat_ns, sample.read.lat_ns);
    expect(series.points[0]?.window.read.lat_ns).toEqual(joined);
    expect(series.points[0]?.row.read_iops).toBeCloseTo(sample.read.ios * 10);
  });
});
