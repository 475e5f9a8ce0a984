//! Points, change points and states of trends.

use super::{compare_runs, members, run};
use crate::trend::{
    changes::changes,
    hosts::Hosts,
    points::{Point, SeriesRun, count_excluded, points},
    state::{newest_group, state_from_comparison},
    values::RunValues,
};
use leadline_protocol::{
    metrics::Better,
    run::Run,
    status::RunStatus,
    trend::{ExclusionKind, TrendChange, TrendPoint, TrendState},
    verdict::VerdictClass,
};

const DAY_MS: u64 = 86_400_000;
const IOPS: &str = "read_iops";

fn series_run(number: u64, day: u64, iops: f64) -> SeriesRun {
    SeriesRun {
        number,
        status: RunStatus::Done,
        started_at_ms: day * DAY_MS + number,
        step: None,
        host_fingerprint: "a".into(),
        verdict: Some(VerdictClass::Device),
        values: Some(RunValues {
            metrics: [(IOPS.to_owned(), iops)].into(),
            ..RunValues::default()
        }),
    }
}

/// A single run per day.
fn days(iops: &[f64]) -> Vec<SeriesRun> {
    let runs = (1..).zip(iops);
    runs.map(|(day, iops)| series_run(day, day, *iops))
        .collect()
}

fn disturbed(mut run: SeriesRun) -> SeriesRun {
    let values = run.values.as_mut().expect("values");
    values.disturbances.push("foreign_io".into());
    run
}

fn numbers(point: &Point) -> Vec<u64> {
    point.runs.iter().map(|run| run.run.number).collect()
}

fn grouped(runs: &[SeriesRun]) -> Vec<Vec<u64>> {
    points(runs).iter().map(numbers).collect()
}

fn described(runs: &[SeriesRun]) -> Vec<TrendPoint> {
    let points = points(runs);
    points.iter().map(|point| point.describe(IOPS)).collect()
}

fn found(runs: &[SeriesRun], threshold: f64) -> Vec<TrendChange> {
    let points = points(runs);
    let described: Vec<TrendPoint> = points.iter().map(|point| point.describe(IOPS)).collect();
    changes(&points, &described, Some(Better::Higher), threshold)
}

#[test]
fn runs_are_grouped_by_study_step_or_day() {
    let step = |number, step| SeriesRun {
        step: Some((7, step)),
        ..series_run(number, 2, 1.0)
    };
    let runs = [
        series_run(1, 1, 1.0),
        series_run(2, 1, 1.0),
        step(3, 1),
        step(4, 2),
        series_run(5, 2, 1.0),
        step(6, 2),
        step(7, 1),
        series_run(8, 2, 1.0),
        series_run(9, 9, 1.0),
    ];
    let expected: [&[u64]; 5] = [&[1, 2], &[3, 7], &[4, 6], &[5, 8], &[9]];
    assert_eq!(grouped(&runs), expected);
    let many: Vec<SeriesRun> = (1..=51).map(|number| series_run(number, 1, 1.0)).collect();
    let sizes: Vec<usize> = points(&many).iter().map(|point| point.runs.len()).collect();
    assert_eq!(sizes, [50, 1], "a comparison has at most 50 runs");
}

#[test]
fn host_change_starts_a_new_point() {
    let on = |host: &str, number| SeriesRun {
        host_fingerprint: host.into(),
        ..series_run(number, 1, 1.0)
    };
    let runs = [on("a", 1), on("b", 2), on("b", 3), on("a", 4)];
    let expected: [&[u64]; 3] = [&[1], &[2, 3], &[4]];
    assert_eq!(grouped(&runs), expected);
}

#[test]
fn runs_are_excluded_with_a_reason() {
    let mut runs = Vec::from_iter((1..=12).map(|number| series_run(number, 1, 100.0)));
    runs[0].status = RunStatus::Failed;
    runs[1].values = None;
    runs[2] = disturbed(series_run(3, 1, 5.0));
    runs[3].status = RunStatus::Cancelled;
    runs[4].values = Some(RunValues::default());
    let points = described(&runs);
    let [point] = &points[..] else {
        panic!("{points:?}")
    };
    assert_eq!(point.runs, [6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(point.statistics.median, Some(100.0));
    assert!(point.statistics.interval.is_some());
    let excluded: Vec<(u64, ExclusionKind, &str, Option<f64>)> = (point.excluded.iter())
        .map(|run| (run.run, run.kind, run.reason.as_str(), run.value))
        .collect();
    let expected = [
        (1, ExclusionKind::Incomplete, "failed", None),
        (2, ExclusionKind::Damaged, "damaged result", None),
        (3, ExclusionKind::Disturbed, "foreign I/O", Some(5.0)),
        (4, ExclusionKind::Incomplete, "cancelled", None),
        (5, ExclusionKind::NoValue, "no value", None),
    ];
    assert_eq!(excluded, expected);
    assert_eq!(count_excluded(&points).len(), 5);
}

#[test]
fn frequent_disturbances_are_properties_of_the_test() {
    let mut runs = days(&[1.0, 2.0, 3.0]);
    runs[0] = disturbed(runs[0].clone());
    assert!(described(&runs)[0].runs.is_empty());
    runs[1] = disturbed(runs[1].clone());
    assert_eq!(described(&runs)[0].runs, [1]);
}

#[test]
fn changes_have_a_size_a_direction_and_neighboring_runs() {
    let level = |day: u64| if day < 20 { 100.0 } else { 90.0 };
    let iops: Vec<f64> = (1..=40)
        .map(|day| level(day) + (day % 3) as f64 / 10.0)
        .collect();
    let mut runs = days(&iops);
    runs[17].host_fingerprint = "b".into();
    let changes = found(&runs, 2.0);
    assert_eq!(changes.len(), 1, "{changes:?}");
    let change = &changes[0];
    assert_eq!((change.point, change.is_better), (19, Some(false)));
    assert!((change.percent.unwrap() + 10.0).abs() < 0.1);
    assert_eq!(change.runs_before, [19], "not on host b");
    assert_eq!(change.runs_after.len(), 21);
    assert!(found(&runs, 20.0).is_empty(), "smaller than the threshold");
}

#[test]
fn a_step_down_and_up_is_two_changes() {
    let level = |day: usize| if (15..25).contains(&day) { 90.0 } else { 100.0 };
    let iops: Vec<f64> = (0..40)
        .map(|day| level(day) + (day % 3) as f64 / 10.0)
        .collect();
    let points: Vec<u64> = found(&days(&iops), 2.0).iter().map(|c| c.point).collect();
    assert_eq!(points, [15, 25]);
}

#[test]
fn short_constant_and_empty_series_have_no_changes() {
    for iops in [
        vec![],
        vec![1.0],
        vec![1.0, 2.0],
        vec![0.0; 30],
        vec![5.0; 30],
    ] {
        assert!(found(&days(&iops), 2.0).is_empty(), "{iops:?}");
    }
    let from_zero: Vec<f64> = (0..30)
        .map(|day| if day < 15 { 0.0 } else { 9.0 })
        .collect();
    let changes = found(&days(&from_zero), 2.0);
    assert_eq!((changes.len(), changes[0].percent), (1, None));
}

#[test]
fn kernel_and_verdict_changes_are_listed() {
    let hosts = [run(1, 1.0, "device", "6.1"), run(2, 1.0, "device", "6.8")];
    let mut hosts: Vec<_> = ["a", "b"]
        .into_iter()
        .zip(&hosts)
        .map(|(name, run)| (name.to_owned(), crate::group::ComparedRun::new(run, None)))
        .collect();
    hosts[0].1.label = String::new();
    let hosts = Hosts::new(&hosts);
    let mut runs = days(&[1.0, 1.0, 1.0]);
    runs[1].host_fingerprint = "b".into();
    runs[2].host_fingerprint = "b".into();
    runs[2].verdict = Some(VerdictClass::PageCache);
    let points = points(&runs);
    let names = |index: usize| {
        let changes = hosts
            .changes(&points[index - 1], &points[index])
            .into_iter();
        let text = |value: Option<String>| value.unwrap_or_default();
        let texts = changes.map(|c| format!("{} {} {}", c.name, text(c.before), text(c.after)));
        texts.collect::<Vec<String>>()
    };
    assert_eq!(names(1), ["kernel 6.1 6.8"]);
    assert_eq!(names(2), ["verdict device page_cache"]);
}

#[test]
fn newest_group_includes_earlier_runs() {
    let runs = days(&[1.0; 15]);
    let newest = |runs: &[SeriesRun], baseline: &[u64]| newest_group(&points(runs), baseline);
    assert_eq!(newest(&runs, &[1]).unwrap(), Vec::from_iter(6..=15));
    assert_eq!(newest(&runs, &[10, 11]).unwrap(), [12, 13, 14, 15]);
    let none = newest(&runs, &[15]).unwrap_err();
    assert_eq!(none.state, TrendState::Undecided);

    let mut updated = runs.clone();
    updated[13].host_fingerprint = "b".into();
    updated[14].host_fingerprint = "b".into();
    assert_eq!(newest(&updated, &[1]).unwrap(), [14, 15], "on one host");

    let mut failed = runs.clone();
    failed[14].status = RunStatus::Failed;
    assert_eq!(newest(&failed, &[1]).unwrap().last(), Some(&14));

    let mut foreign = runs;
    foreign[14] = disturbed(foreign[14].clone());
    let state = newest(&foreign, &[1]).unwrap_err();
    assert_eq!(state.state, TrendState::NotComparable);
    assert!(
        state.reason.contains("#15 (foreign I/O)"),
        "{}",
        state.reason
    );
}

#[test]
fn steps_of_a_study_are_not_extended() {
    let step = |number: u64| SeriesRun {
        step: Some((7, 2 - (number % 2) as u32)),
        ..series_run(number, 2, 1.0)
    };
    let mut runs = days(&[1.0]);
    runs.extend((2..=7).map(step));
    let newest = newest_group(&points(&runs), &[2, 4, 6]).unwrap();
    assert_eq!(newest, [3, 5, 7], "interleaved with the baseline");
}

fn state(baseline: &[Run], newest: &[Run]) -> TrendState {
    let groups = [
        ("baseline", members(baseline, false)),
        ("newest", members(newest, false)),
    ];
    state_from_comparison(&compare_runs(&groups), vec![]).state
}

fn runs(first: u64, count: u64, iops: f64, class: &str) -> Vec<Run> {
    let runs = first..first + count;
    runs.map(|number| run(number, iops + (number % 5) as f64, class, "6.1"))
        .collect()
}

#[test]
fn state_follows_from_the_verdicts() {
    let baseline = runs(1, 10, 1000.0, "device");
    for (iops, expected) in [
        (900.0, TrendState::Regressed),
        (1100.0, TrendState::Improved),
    ] {
        assert_eq!(state(&baseline, &runs(11, 10, iops, "device")), expected);
    }
    let few = runs(11, 1, 900.0, "device");
    assert_eq!(state(&baseline, &few), TrendState::Undecided, "one run");
    let cached = runs(11, 10, 40_000.0, "page_cache");
    assert_eq!(state(&baseline, &cached), TrendState::NotComparable);
    assert_eq!(state(&baseline, &[]), TrendState::NotComparable);
}

/// Approximately normal: the sum of 12 uniform values of a linear congruential generator.
fn noise(state: &mut u64) -> f64 {
    let mut uniform = || {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}

/// Prints the figures in docs/comparison.md.
#[test]
fn false_change_points_are_rare() {
    for (spread, limit) in [(0.01, 0.0), (0.05, 0.06)] {
        let mut state = 1;
        let series = (0..200).filter(|_| {
            let iops: Vec<f64> = (0..60)
                .map(|_| 1000.0 * (1.0 + spread * noise(&mut state)))
                .collect();
            !found(&days(&iops), 2.0).is_empty()
        });
        let share = series.count() as f64 / 200.0;
        eprintln!(
            "spread {spread}: {:.1} % of 200 series have a change point",
            share * 100.0
        );
        assert!(share <= limit, "{share}");
    }
}
