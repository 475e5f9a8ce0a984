//! Comparisons of two or three runs.

use crate::query::compare::compare;
use leadline_protocol::{run::Run, status::RunStatus};
use serde_json::{Value, json};

fn lat(p99: u64) -> Value {
    json!({"min": 1, "max": p99 * 2, "mean": 10.0, "stddev": 1.0, "count": 1, "percentiles": {"50": 10, "99": p99, "99.9": p99}, "buckets": []})
}

fn direction(iops: f64, p99: u64) -> Value {
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

/// A run that read with these IOPS, with this verdict class.
fn run(number: u64, iops: f64, class: &str, kernel: &str) -> Run {
    let run = json!({"number": number, "status": "done", "name": "r", "host": "local", "tags": [], "notes": "", "created_at_ms": 0, "jobs": 1, "target": "/t",
        "rw": "randread", "bs": "4k", "iodepth": 1, "numjobs": 1, "direct": true, "requested": {"jobs": [], "sample_ms": 100}, "sample_ms": 100,
        "host_facts": {"hostname": "h", "kernel": kernel, "machine": "x86_64", "cpus": 2, "runner": "0.1.0", "absent": {}},
        "report": report(iops), "verdict": verdict(class), "findings": [], "last_seq": 9, "samples": 1});
    serde_json::from_value(run).unwrap()
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
        .change_percent
        .iter()
        .map(|change| change.map(|percent| percent.round() as i64))
        .collect();
    assert_eq!(rounded, [Some(-33), None, Some(-67)]);
    assert_eq!(metric("cpu_ns_per_io").unwrap().values[0], Some(4000.0));
    assert!(metric("write_iops").is_none() && metric("device_read_iops").is_none());
    // The baseline is 0.
    assert_eq!(metric("errors").unwrap().change_percent, [None, None, None]);
    assert_eq!(comparison.baseline, 2);
}

/// `expected` is part of the sentence or of the reasons.
fn check(runs: &[Run], same_test: bool, expected: &str) {
    let comparable = compare(runs, 0).comparable;
    assert_eq!(comparable.same_test, same_test, "{comparable:?}");
    let all = format!("{} {}", comparable.sentence, comparable.reasons.join(" "));
    assert!(all.contains(expected), "{all}");
}

#[test]
fn serving_layer_comes_first() {
    let cases: &[(&[&str], &str)] = &[
        (
            &["device", "page_cache"],
            "Not the same test: #1 was served by the device, #2 by memory. The 2.0× speedup comes from memory, not from a faster disk.",
        ),
        (
            &["page_cache", "device"],
            "Not the same test: #1 was served by memory, #2 by the device.",
        ),
        (
            &["device", "device", "page_cache"],
            "Not the same test: #1, #2 were served by the device, #3 by memory.",
        ),
        (
            &["unwritten", "device"],
            "Not the same test: #1 was served by the filesystem from unwritten blocks, #2 by the device.",
        ),
        (&["device", "unknown"], "Same test"),
    ];
    for (classes, sentence) in cases {
        let runs: Vec<Run> = (1..)
            .zip(*classes)
            .map(|(number, class)| run(number, 1000.0 * number as f64, class, "6.1"))
            .collect();
        check(&runs, sentence.starts_with("Same"), sentence);
    }
}

#[test]
fn suggests_rerunning_the_run_served_from_memory() {
    let device = run(1, 1000.0, "device", "6.1");
    let mut warm = run(2, 9000.0, "page_cache", "6.1");
    assert_eq!(
        compare(&[device.clone(), warm.clone()], 0).comparable.rerun,
        None
    );
    let finding = json!({"code": "served_from_cache", "severity": "serious", "sentence": "", "evidence": {}, "remedy": "",
        "patch": {"direct": 1}, "patch_label": "Rerun direct"});
    warm.findings = vec![serde_json::from_value(finding).unwrap()];
    let rerun = compare(&[device.clone(), warm], 0)
        .comparable
        .rerun
        .unwrap();
    assert_eq!(
        (rerun.run, rerun.label.as_str(), &rerun.patch["direct"]),
        (2, "Rerun direct", &json!(1))
    );
    assert_eq!(compare(&[device.clone(), device], 0).comparable.rerun, None);
}

#[test]
fn same_test_requires_equal_settings_and_host() {
    let device = run(1, 1000.0, "device", "6.1");
    check(
        &[device.clone(), run(2, 1.0, "device", "6.1")],
        true,
        "Same test",
    );
    check(
        &[device.clone(), run(2, 1.0, "device", "6.2")],
        false,
        "kernel (6.1 / 6.2)",
    );
    let mut other_interval = run(2, 1.0, "device", "6.1");
    other_interval.sample_ms = 50;
    check(&[device.clone(), other_interval], true, "Same test");
    let mut failed = run(2, 1.0, "device", "6.1");
    failed.report = None;
    failed.summary.status = RunStatus::Failed;
    check(
        &[device.clone(), failed],
        false,
        "#2 has no report (status: failed).",
    );
    let mut partial = run(2, 1.0, "device", "6.1");
    partial.summary.status = RunStatus::Failed;
    check(
        &[device.clone(), partial.clone()],
        false,
        "#2 has a partial report",
    );
    let stalls = json!({"threshold_ms": 1e3, "count": 1, "total_ms": 9e3, "longest_ms": 9e3, "share": 0.9, "workers": 1, "spans": []});
    let job = json!({"name": "a", "engine": "psync", "workers": 1, "duration_ms": 1e4, "ended_by": "runtime", "read": direction(1.0, 1), "write": direction(0.0, 0),
        "trim": direction(0.0, 0), "sync": {"ios": 0, "lat_ns": lat(0)}, "errors": 0, "decisions": [], "stalls": stalls});
    let report = partial.report.as_mut().unwrap();
    report.jobs.push(serde_json::from_value(job).unwrap());
    check(
        &[device, partial],
        false,
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
    assert_eq!(p99(0).change_percent, [None, Some(300.0)]);
    assert_eq!(p99(1).change_percent, [None, None]);
    let comparison = compare(&runs, 0);
    let max = comparison
        .metrics
        .iter()
        .find(|metric| metric.name == "read_lat_max_ns");
    assert_eq!(max.unwrap().at_least, [false, false]);
}
