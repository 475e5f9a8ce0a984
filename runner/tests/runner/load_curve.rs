//! Load–latency curves and the arrival counts that they are based on.

use crate::scratch::document::{json_of, run};
use serde_json::{Value, json};

/// A null-engine job with changed options.
fn null(changes: &Value) -> Value {
    let mut job = json!({"name": "null", "filename": "none", "ioengine": "null", "size": "1m", "rw": "randread", "direct": 0});
    for (name, value) in changes.as_object().unwrap() {
        job[name] = value.clone();
    }
    job
}

fn numbers(values: &Value) -> Vec<u64> {
    let values = values.as_array().unwrap().iter();
    values.map(|value| value.as_u64().unwrap()).collect()
}

#[test]
fn completions_equal_arrivals_minus_backlog_growth() {
    let directory = tempfile::tempdir().unwrap();
    for process in ["poisson", "linear"] {
        let job = null(
            &json!({"rate_iops": 2000, "rate_process": process, "numjobs": 2, "runtime": 2, "time_based": 1, "ramp_time": 1}),
        );
        let done = json_of(&run(&job, directory.path(), &["--json"]));
        let report = &done["report"]["jobs"][0];
        let arrivals = &report["arrivals"];
        let due = arrivals["due"].as_u64().unwrap();
        // Arrivals of two workers in two seconds, within five standard deviations.
        assert!((7680..=8320).contains(&due), "{process} {due}");
        let backlog = numbers(&arrivals["backlog"]);
        assert_eq!(backlog.len(), 5);
        let completed = report["read"]["ios"].as_u64().unwrap();
        assert_eq!(
            completed + backlog[4],
            due + backlog[0],
            "{process} {arrivals}"
        );
    }
    let job = null(&json!({"runtime": 1, "time_based": 1}));
    let done = json_of(&run(&job, directory.path(), &["--json"]));
    assert!(done["report"]["jobs"][0]["arrivals"].is_null());
}

#[test]
fn curve_ends_above_the_saturation_point() {
    let directory = tempfile::tempdir().unwrap();
    let study = json!({
        "load_curve": {"rates": [2000, 5_000_000, 6_000_000], "seconds": 1, "ramp_seconds": 0, "p99_limit_ms": 1000},
        "steps": [{"jobs": [{"filename": "data", "size": "1m", "rw": "randread", "bs": "4k", "direct": 0, "ioengine": "psync"}]}]});
    let done = json_of(&run(&study, directory.path(), &["--json"]));
    let results = &done["results"];
    let points = results["points"].as_array().unwrap();
    let classes: Vec<(f64, &str)> = points
        .iter()
        .map(|point| {
            (
                point["offered"].as_f64().unwrap(),
                point["class"].as_str().unwrap(),
            )
        })
        .collect();
    // The runs are included even if a busy host disturbs all of them.
    assert!(classes.contains(&(5e6, "overloaded")), "{results}");
    // Higher rates are skipped, unless the first two runs are disturbed, which makes them
    // inconclusive.
    if results["warning"].is_null() {
        assert_eq!(results["not_run"], json!([6_000_000.0]));
    }
    let overloaded = points.iter().find(|point| point["offered"] == 5e6).unwrap();
    assert_eq!(overloaded["is_lower_bound"], true);
    assert!(overloaded["achieved"].as_f64() < Some(5e6));
    assert_eq!(done["steps"].as_array().unwrap().len(), points.len());
}

#[test]
fn rates_are_derived_from_a_probe() {
    let directory = tempfile::tempdir().unwrap();
    let study = json!({
        "load_curve": {"seconds": 1, "ramp_seconds": 0},
        "steps": [{"jobs": [{"filename": "data", "size": "1m", "rw": "randread", "bs": "4k", "direct": 0, "ioengine": "psync"}]}]});
    // Retry if the curve ends early: at a low rate, the job is overloaded if other programs need
    // the CPU.
    let is_complete = |done: &Value| done["results"]["points"].as_array().unwrap().len() >= 5;
    let done = (0..5)
        .map(|_| json_of(&run(&study, directory.path(), &["--json"])))
        .find(is_complete)
        .expect("at least 5 points");
    let results = &done["results"];
    let probe = results["probe_iops"].as_f64().unwrap();
    let points = results["points"].as_array().unwrap();
    let first = points[0]["offered"].as_f64().unwrap();
    // Offered rates have three significant digits.
    assert!(
        (first / (probe * 0.1) - 1.0).abs() < 0.006,
        "{probe} {first}"
    );
    assert_eq!(points[0]["step"], 2);
    assert!(results["sentence"].as_str().unwrap().contains("IOPS"));
}

#[test]
fn curve_ends_before_it_exceeds_max_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let curve = |max_bytes: u64| {
        let job = null(&json!({"rw": "randwrite", "bs": "4k"}));
        let study = json!({"load_curve": {"rates": [1000, 2000, 4000], "seconds": 1, "ramp_seconds": 0, "max_bytes": max_bytes},
            "steps": [{"jobs": [job]}]});
        json_of(&run(&study, directory.path(), &["--json"]))["results"].clone()
    };
    // The first two rates write about 4.1 and 8.2 MB; the third would write 16.4 MB.
    let limited = curve(14_000_000);
    assert_eq!(limited["not_run"], json!([4000.0]), "{limited}");
    assert_eq!(limited["ended_before"], 4000.0);
    let sentence = limited["sentence"].as_str().unwrap();
    assert!(sentence.contains("ended before 4000 IOPS"), "{sentence}");
    let complete = curve(40_000_000);
    assert_eq!(complete["not_run"], json!([]), "{complete}");
    assert!(complete["ended_before"].is_null());
}

/// No host reads 200 GB/s with one worker.
#[test]
fn overloaded_run_ends_early_and_reports_the_evidence() {
    let directory = tempfile::tempdir().unwrap();
    let job = json!({"filename": "data", "size": "4m", "rw": "randread", "bs": "1m", "direct": 0, "ioengine": "psync",
        "rate_iops": 200_000, "rate_process": "poisson", "runtime": 60, "time_based": 1, "overload_time": 2});
    let done = json_of(&run(&job, directory.path(), &["--json"]));
    let report = &done["report"]["jobs"][0];
    let overload = &report["arrivals"]["overload"];
    // On a busy host, completions may be irregular during the whole run.
    if overload.is_null() {
        eprintln!("SKIP: the host is too busy: {}", report["arrivals"]);
        return;
    }
    assert_eq!(report["ended_by"], "overload");
    assert!(report["duration_ms"].as_f64() < Some(60_000.0), "{report}");
    let number = |name: &str| overload[name].as_u64().unwrap();
    assert_eq!(number("limit"), 200_000);
    assert!(number("backlog_at_start") > number("limit"), "{overload}");
    assert!(number("completed") < number("due"), "{overload}");
    assert!(number("period_ms") >= 2000, "{overload}");
    let findings = done["findings"].as_array().unwrap();
    assert!(
        findings
            .iter()
            .any(|finding| finding["code"] == "overloaded"),
        "{findings:?}"
    );
}
