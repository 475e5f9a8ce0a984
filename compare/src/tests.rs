//! Tests comparisons of single runs and of groups.

mod exclusions;
mod gate;
mod html;
mod interim_looks;
mod latency_kinds;
mod obstacles;
mod rate_limits;
mod repeats;
mod speed;
mod trends;

use crate::group::{Block, ComparedRun, Group};
use leadline_protocol::{
    compare::{Assessment, Change, ChangeVerdict, ComparabilityLevel},
    run::Run,
    status::RunStatus,
};
use serde_json::{Value, json};

fn lat(p99: u64) -> Value {
    json!({"min": 1, "max": p99 * 2, "mean": 10.0, "stddev": 1.0, "count": 1, "percentiles": {"50": 10, "99": p99, "99.9": p99}, "buckets": []})
}

pub(crate) fn direction(iops: f64, p99: u64) -> Value {
    json!({"ios": iops as u64, "bytes": iops as u64 * 4096, "iops": iops, "bytes_per_second": iops * 4096.0, "slat_ns": lat(p99), "clat_ns": lat(p99), "lat_ns": lat(p99)})
}

fn report(iops: f64) -> Value {
    let sync = json!({"ios": 0, "lat_ns": lat(0)});
    json!({"started_at_ms": 0, "duration_ms": 1000.0, "ended_by": "runtime", "phases": [], "read": direction(iops, 100), "write": direction(0.0, 0),
        "trim": direction(0.0, 0), "sync": sync, "jobs": [], "device": null,
        "cpu": {"user_ms": 1.0, "system_ms": 3.0, "process_percent": 0.4, "host_percent": 1.0, "context_switches": 1},
        "memory": null, "pressure": null, "errors": {"total": 0, "first": null}, "start_skew_ns": 0, "achieved_depth": null, "absent": {}})
}

fn verdict(class: &str) -> Value {
    json!({"read": {"class": class, "sentence": "", "shares": {}, "evidence": {}}, "write": null})
}

/// A run with this read IOPS value, verdict class and kernel.
pub(crate) fn run(number: u64, iops: f64, class: &str, kernel: &str) -> Run {
    let run = json!({"number": number, "status": "done", "name": "r", "host": "local", "tags": [], "notes": "", "created_at_ms": 0, "jobs": 1, "target": "/t",
        "rw": "randread", "bs": "4k", "iodepth": 1, "numjobs": 1, "direct": true, "requested": {"jobs": [], "sample_ms": 100}, "sample_ms": 100,
        "host_facts": {"hostname": "h", "kernel": kernel, "machine": "x86_64", "cpus": 2, "runner": "0.1.0", "absent": {}},
        "report": report(iops), "verdict": verdict(class), "findings": [], "last_seq": 9, "samples": 1});
    serde_json::from_value(run).unwrap()
}

/// Compares single runs.
fn compare(runs: &[Run], baseline: usize) -> Assessment {
    let group = |run| {
        let run = ComparedRun::new(run, None);
        Group {
            label: run.label.clone(),
            runs: vec![run],
        }
    };
    let groups: Vec<Group> = runs.iter().map(group).collect();
    crate::compare(&groups, baseline, 2.0)
}

/// If `paired`, each run is in its own block of a study.
fn members(runs: &[Run], paired: bool) -> Vec<ComparedRun<'_>> {
    let block = |repeat| {
        paired.then(|| Block {
            study: "1".into(),
            repeat,
        })
    };
    let runs = (1..).zip(runs);
    runs.map(|(repeat, run)| ComparedRun::new(run, block(repeat)))
        .collect()
}

/// Compares groups with the first group.
fn compare_runs(groups: &[(&str, Vec<ComparedRun>)]) -> Assessment {
    let groups: Vec<Group> = groups
        .iter()
        .map(|(label, runs)| Group {
            label: (*label).into(),
            runs: runs.clone(),
        })
        .collect();
    crate::compare(&groups, 0, 2.0)
}

/// Compares two groups with these read IOPS values. If `paired`, the runs with the same index are
/// in the same block of a study.
fn compare_groups(a: &[f64], b: &[f64], paired: bool) -> Assessment {
    let runs = |iops: &[f64], first: u64| -> Vec<Run> {
        let runs = (first..).zip(iops);
        runs.map(|(number, iops)| run(number, *iops, "device", "6.1"))
            .collect()
    };
    let (a, b) = (runs(a, 1), runs(b, 101));
    compare_runs(&[
        ("before", members(&a, paired)),
        ("after", members(&b, paired)),
    ])
}

fn change<'a>(assessment: &'a Assessment, metric: &str) -> &'a Change {
    let metric = assessment.metrics.iter().find(|row| row.name == metric);
    let changes = &metric.expect("the metric").changes;
    changes[1].as_ref().expect("a change")
}

const STEADY: [f64; 10] = [
    1000.0, 1010.0, 990.0, 1005.0, 995.0, 1002.0, 1008.0, 992.0, 998.0, 1001.0,
];

fn scaled(factor: f64) -> Vec<f64> {
    STEADY.iter().map(|iops| iops * factor).collect()
}

#[test]
fn groups_of_repeats_get_a_verdict() {
    for paired in [false, true] {
        let verdict = |factor| {
            let assessment = compare_groups(&STEADY, &scaled(factor), paired);
            let change = change(&assessment, "read_iops").clone();
            assert_eq!(change.paired, paired);
            (change.verdict, assessment.answers[0].clone())
        };
        let (slower, answer) = verdict(0.95);
        assert_eq!(slower, Some(ChangeVerdict::Worse), "{answer}");
        assert!(
            answer.starts_with("“after” has 5.0 % lower read IOPS than “before” (95 % interval −"),
            "{answer}"
        );
        assert_eq!(verdict(1.1).0, Some(ChangeVerdict::Better));
        assert_eq!(verdict(1.001).0, Some(ChangeVerdict::Equivalent));
    }
}

#[test]
fn pairing_removes_effects_shared_within_a_block() {
    let drift: Vec<f64> = (0..10).map(|n| 1000.0 * 1.1_f64.powi(n)).collect();
    let slower: Vec<f64> = drift
        .iter()
        .zip(STEADY)
        .map(|(a, b)| a * b / 1050.0)
        .collect();
    let verdict = |paired| {
        let assessment = compare_groups(&drift, &slower, paired);
        change(&assessment, "read_iops").verdict
    };
    assert_eq!(verdict(true), Some(ChangeVerdict::Worse));
    assert_eq!(verdict(false), Some(ChangeVerdict::Undecided));
}

#[test]
fn small_groups_are_undecided_with_a_reason() {
    let assessment = compare_groups(&STEADY[..3], &scaled(0.9)[..3], true);
    let change = change(&assessment, "read_iops");
    assert_eq!(change.verdict, Some(ChangeVerdict::Undecided));
    assert_eq!(change.interval_percent, None);
    let reason = change.reason.as_deref().unwrap();
    let required = "A verdict on 3 metrics requires at least 7 pairs. ";
    assert!(reason.starts_with(required), "{reason}");
    assert!(assessment.answers[0].starts_with("Undecided: "));
}

#[test]
fn groups_that_were_not_interleaved_are_marked() {
    let is_marked = |paired| {
        let reasons = compare_groups(&STEADY, &STEADY, paired)
            .comparability
            .reasons;
        reasons
            .iter()
            .any(|reason| reason.contains("not interleaved"))
    };
    assert!(is_marked(false) && !is_marked(true));
    let device = |number| run(number, 1.0, "device", "6.1");
    let single = compare(&[device(1), device(2)], 0);
    assert!(single.comparability.reasons.is_empty());
}

#[test]
fn incomplete_runs_are_excluded() {
    let mut runs: Vec<Run> = (1..=3).map(|n| run(n, 1000.0, "device", "6.1")).collect();
    runs[1].summary.status = RunStatus::Failed;
    let group = Group {
        label: "before".into(),
        runs: runs.iter().map(|run| ComparedRun::new(run, None)).collect(),
    };
    let other = [run(4, 1000.0, "device", "6.1")];
    let other = Group {
        label: "after".into(),
        runs: vec![ComparedRun::new(&other[0], None)],
    };
    let assessment = crate::compare(&[group, other], 0, 2.0);
    assert_eq!(assessment.groups[0].complete, 2);
    assert_eq!(assessment.groups[0].excluded, [1]);
    assert_eq!(assessment.metrics[0].groups[0].n, 2);
    assert_eq!(
        assessment.comparability.reasons[0],
        "#2 has a partial report (status: failed), so it is excluded."
    );
}

#[test]
fn percentiles_require_enough_ios() {
    let assessment = compare_groups(&STEADY, &scaled(0.9), true);
    let change = change(&assessment, "read_lat_p99_ns");
    assert_eq!(change.verdict, Some(ChangeVerdict::Undecided));
    let reason = change.reason.as_deref().unwrap();
    assert!(reason.contains("requires 1000 per run"), "{reason}");
}

#[test]
fn metrics_are_relative_to_the_baseline() {
    let comparison = compare(
        &[
            run(1, 1000.0, "device", "6.1"),
            run(2, 1500.0, "device", "6.1"),
            run(3, 500.0, "device", "6.1"),
        ],
        1,
    );
    let metric = |name: &str| comparison.metrics.iter().find(|metric| metric.name == name);
    let iops = metric("read_iops").unwrap();
    assert_eq!(iops.values, [Some(1000.0), Some(1500.0), Some(500.0)]);
    let rounded: Vec<Option<i64>> = iops
        .changes
        .iter()
        .map(|change| Some(change.as_ref()?.percent.round() as i64))
        .collect();
    assert_eq!(rounded, [Some(-33), None, Some(-67)]);
    assert_eq!(metric("cpu_ns_per_io").unwrap().values[0], Some(4000.0));
    assert!(metric("write_iops").is_none() && metric("device_read_iops").is_none());
    // The baseline is 0.
    assert_eq!(metric("errors").unwrap().changes, [None, None, None]);
    assert_eq!(comparison.baseline, 1);
}

/// `expected` must be part of the sentence or the reasons.
fn check(runs: &[Run], level: ComparabilityLevel, expected: &str) {
    let found = compare(runs, 0).comparability;
    assert_eq!(found.level, level, "{found:?}");
    let all = format!("{} {}", found.sentence, found.reasons.join(" "));
    assert!(all.contains(expected), "{all}");
}

#[test]
fn layer_differences_come_first() {
    let cases: &[(&[&str], &str)] = &[
        (
            &["device", "page_cache"],
            "Served by different layers: #1 was served by the device, #2 by memory. The 2.0× speedup comes from memory, not from a faster disk.",
        ),
        (
            &["page_cache", "device"],
            "Served by different layers: #1 was served by memory, #2 by the device.",
        ),
        (
            &["device", "device", "page_cache"],
            "Served by different layers: #1, #2 were served by the device, #3 by memory.",
        ),
        (
            &["unwritten", "device"],
            "Served by different layers: #1 was served by the filesystem from unwritten blocks, #2 by the device.",
        ),
        (&["device", "unknown"], "Same test"),
    ];
    for (classes, sentence) in cases {
        let runs: Vec<Run> = (1..)
            .zip(*classes)
            .map(|(number, class)| run(number, 1000.0 * number as f64, class, "6.1"))
            .collect();
        let level = if sentence.starts_with("Same") {
            ComparabilityLevel::Comparable
        } else {
            ComparabilityLevel::WithDifferences
        };
        check(&runs, level, sentence);
    }
}

#[test]
fn suggests_rerunning_the_run_served_from_memory() {
    let device = run(1, 1000.0, "device", "6.1");
    let mut warm = run(2, 9000.0, "page_cache", "6.1");
    assert_eq!(
        compare(&[device.clone(), warm.clone()], 0)
            .comparability
            .rerun,
        None
    );
    let finding = json!({"code": "served_from_cache", "severity": "serious", "sentence": "", "evidence": {}, "remedy": "",
        "patch": {"direct": 1}, "patch_label": "Rerun direct"});
    warm.findings = vec![serde_json::from_value(finding).unwrap()];
    let rerun = compare(&[device.clone(), warm], 0)
        .comparability
        .rerun
        .unwrap();
    assert_eq!(
        (rerun.run, rerun.label.as_str(), &rerun.patch["direct"]),
        (2, "Rerun direct", &json!(1))
    );
    assert_eq!(
        compare(&[device.clone(), device], 0).comparability.rerun,
        None
    );
}

#[test]
fn same_test_requires_equal_settings_and_host() {
    let device = run(1, 1000.0, "device", "6.1");
    check(
        &[device.clone(), run(2, 1.0, "device", "6.1")],
        ComparabilityLevel::Comparable,
        "Same test",
    );
    check(
        &[device.clone(), run(2, 1.0, "device", "6.2")],
        ComparabilityLevel::WithDifferences,
        "kernel (6.1 / 6.2)",
    );
    let mut other_interval = run(2, 1.0, "device", "6.1");
    other_interval.sample_ms = 50;
    check(
        &[device.clone(), other_interval],
        ComparabilityLevel::Comparable,
        "Same test",
    );
    let mut failed = run(2, 1.0, "device", "6.1");
    failed.report = None;
    failed.summary.status = RunStatus::Failed;
    check(
        &[device.clone(), failed],
        ComparabilityLevel::NotComparable,
        "#2 has no report (status: failed), so it is excluded.",
    );
    let mut partial = run(2, 1.0, "device", "6.1");
    partial.summary.status = RunStatus::Failed;
    check(
        &[device.clone(), partial.clone()],
        ComparabilityLevel::NotComparable,
        "#2 has a partial report",
    );
    let stalls = json!({"threshold_ms": 1e3, "count": 1, "total_ms": 9e3, "longest_ms": 9e3, "share": 0.9, "workers": 1, "spans": []});
    let job = json!({"name": "a", "engine": "psync", "workers": 1, "duration_ms": 1e4, "ended_by": "runtime", "read": direction(1.0, 1), "write": direction(0.0, 0),
        "trim": direction(0.0, 0), "sync": {"ios": 0, "lat_ns": lat(0)}, "errors": 0, "decisions": [], "stalls": stalls});
    let report = partial.report.as_mut().unwrap();
    report.jobs.push(serde_json::from_value(job).unwrap());
    check(
        &[device, partial],
        ComparabilityLevel::NotComparable,
        "#2 had no completions for a long time",
    );
}

#[test]
fn lower_bounds_are_marked() {
    let mut hung = run(2, 1500.0, "device", "6.1");
    let stats = &mut hung.report.as_mut().unwrap().read.lat_ns;
    stats.percentiles.insert("99".into(), 400);
    stats.at_least = vec!["99".into()];
    let runs = [run(1, 1000.0, "device", "6.1"), hung];
    let p99 = |baseline| {
        let comparison = compare(&runs, baseline);
        let mut metrics = comparison.metrics.into_iter();
        metrics
            .find(|metric| metric.name == "read_lat_p99_ns")
            .unwrap()
    };
    assert_eq!(p99(0).at_least, [false, true]);
    assert_eq!(p99(0).changes[1].as_ref().unwrap().percent, 300.0);
    assert_eq!(p99(1).changes, [None, None]);
    let comparison = compare(&runs, 0);
    let max = comparison
        .metrics
        .iter()
        .find(|metric| metric.name == "read_lat_max_ns");
    assert_eq!(max.unwrap().at_least, [false, false]);
}

/// Findings about influences that affected only some runs.
#[test]
fn findings_of_some_runs_are_differences() {
    for (code, name) in [
        ("busy_at_start", "host busy at the start"),
        ("steady_state_not_reached", "steady state not reached"),
    ] {
        let mut second = run(2, 1000.0, "device", "6.1");
        let finding = json!({"code": code, "severity": "serious", "sentence": "", "evidence": {}, "remedy": "", "patch": {}, "patch_label": ""});
        second.findings = vec![serde_json::from_value(finding).unwrap()];
        let assessment = compare(&[run(1, 1000.0, "device", "6.1"), second], 0);
        let comparability = assessment.comparability;
        assert_eq!(comparability.level, ComparabilityLevel::WithDifferences);
        assert!(comparability.sentence.contains(name), "{comparability:?}");
    }
}
