//! Accuracy of phase ends, and of results when the runner is stopped (SIGSTOP) for a while.

use super::{
    busy_host::on_an_idle_host,
    scratch::{
        self,
        program::{of_type, report, start, with},
    },
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    time::Duration,
};

const RAMP_MS: f64 = 200.0;
const RUNTIME_MS: f64 = 500.0;

fn job(changes: Value) -> Value {
    let plain = json!({"name": "times", "ioengine": "null", "size": "1g", "rw": "randread", "bs": "4k", "runtime": "500ms",
        "time_based": 1, "ramp_time": "200ms"});
    with(&plain, changes)
}

/// Describes durations that are off by more than a millisecond.
fn wrong_durations(report: &Value) -> Option<String> {
    let time = |name: &str, field: &str| {
        let phases = report["phases"].as_array().unwrap();
        phases.iter().find(|phase| phase["phase"] == name).unwrap()[field]
            .as_f64()
            .unwrap()
    };
    let found = [
        (
            "window",
            report["duration_ms"].as_f64().unwrap(),
            RUNTIME_MS,
        ),
        ("ramp", time("ramp", "duration_ms"), RAMP_MS),
        ("measure", time("measure", "duration_ms"), RUNTIME_MS),
        (
            "ramp start to measure start",
            time("measure", "start_ms") - time("ramp", "start_ms"),
            RAMP_MS,
        ),
    ];
    let wrong: Vec<String> = found
        .iter()
        .filter(|(_, found, expected)| (found - expected).abs() > 1.0)
        .map(|(name, found, expected)| format!("{name} {found} ms, expected {expected}"))
        .collect();
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

#[test]
fn ramp_runtime_and_phases_end_within_a_millisecond() {
    let directory = scratch::directory();
    let file = |engine: &str, direct: u8| json!({"ioengine": engine, "filename": directory.path().join("t1"), "size": "16m", "direct": direct});
    let cases = [
        ("busy loop", json!({"iodepth": 32})),
        (
            "loop that would sleep past its end",
            json!({"rate_iops": 1}),
        ),
        (
            "ring, page cache",
            with(&file("io_uring", 0), json!({"iodepth": 32, "pre_read": 1})),
        ),
        ("psync", file("psync", 0)),
        (
            "direct reads",
            with(&file("io_uring", 1), json!({"iodepth": 8})),
        ),
        ("four workers", json!({"numjobs": 4, "rate_iops": 100})),
    ];
    for (name, changes) in cases {
        on_an_idle_host(name, || {
            wrong_durations(&report(&job(changes.clone()))["report"])
        });
    }
}

/// Events of a run that is stopped (SIGSTOP) for two seconds after its first sample.
fn stalled(changes: Value) -> Vec<Value> {
    let mut child = start(
        &job(with(&json!({"runtime": "3s", "ramp_time": 0}), changes)),
        &["--events"],
    );
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(|line| line.unwrap());
    let mut events: Vec<Value> = Vec::new();
    let mut next = |events: &mut Vec<Value>| {
        lines
            .next()
            .map(|line| events.push(serde_json::from_str(&line).unwrap()))
            .is_some()
    };
    while events.last().is_none_or(|event| event["type"] != "sample") {
        assert!(next(&mut events), "the run ended without a sample");
    }
    let pid = child.id().to_string();
    scratch::run("kill", &["-s", "STOP", &pid]).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    scratch::run("kill", &["-s", "CONT", &pid]).unwrap();
    while next(&mut events) {}
    assert_eq!(child.wait().unwrap().code(), Some(0));
    events
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Names of the failed checks, with the observed values.
fn failed_assertions(
    assertions: &[(&str, bool)],
    observed: &dyn std::fmt::Debug,
) -> Option<String> {
    let failed: Vec<&str> = assertions
        .iter()
        .filter(|(_, holds)| !holds)
        .map(|(claim, _)| *claim)
        .collect();
    (!failed.is_empty()).then(|| format!("failed: {}; observed: {observed:?}", failed.join(", ")))
}

fn check_gap(events: &[Value]) -> Option<String> {
    let report = &of_type(events, "report").next().unwrap()["report"];
    let windows: Vec<(f64, f64)> = of_type(events, "sample")
        .map(|sample| (number(&sample["window_ms"]), number(&sample["read"]["ios"])))
        .collect();
    let long: Vec<&(f64, f64)> = windows.iter().filter(|(ms, _)| *ms > 1900.0).collect();
    let mut rates: Vec<f64> = windows
        .iter()
        .filter(|(ms, _)| (50.0..1900.0).contains(ms))
        .map(|(ms, ios)| ios / ms)
        .collect();
    rates.sort_by(f64::total_cmp);
    let median = rates[rates.len() / 2];
    let fastest = rates[rates.len() - 1];
    let sum: f64 = windows.iter().map(|window| window.0).sum();
    let duration = number(&report["duration_ms"]);
    let assertions = [
        ("the gap is in one window", long.len() == 1),
        (
            "the gap is included in the runtime",
            long.iter().all(|(ms, ios)| ios / ms < median / 4.0),
        ),
        ("no window makes up for the gap", fastest < median * 4.0),
        (
            "the latency of the I/Os in flight includes the gap",
            number(&report["read"]["lat_ns"]["max"]) > 1.9e9,
        ),
        (
            "the windows add up to the runtime",
            (sum - duration).abs() < 10.0 && (2999.0..3010.0).contains(&duration),
        ),
    ];
    failed_assertions(&assertions, &(windows, duration))
}

#[test]
fn a_stalled_loop_shows_as_a_gap_not_as_a_fast_interval() {
    on_an_idle_host("stalled loop", || check_gap(&stalled(json!({}))));
}

/// The job is paused for two of three seconds and then catches up, so I/Os start up to two seconds
/// late.
fn check_late_starts(events: &[Value]) -> Option<String> {
    let result = of_type(events, "report").next().unwrap();
    let read = &result["report"]["read"];
    let p50 = |latency: &str| number(&read[latency]["percentiles"]["50"]);
    let codes: Vec<&Value> = result["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| &finding["code"])
        .collect();
    let assertions = [
        (
            "the job catches up",
            (number(&read["ios"]) / 3000.0 - 1.0).abs() < 0.01,
        ),
        ("latency since submission is low", p50("lat_ns") < 0.05e9),
        (
            "latency since the intended start is high",
            p50("intended_lat_ns") > 0.3e9,
        ),
        (
            "the maximum is two seconds",
            number(&read["intended_lat_ns"]["max"]) > 1.9e9,
        ),
        (
            "both latencies count every I/O",
            read["intended_lat_ns"]["count"] == read["ios"],
        ),
        (
            "a finding reports coordinated omission",
            codes.iter().any(|code| **code == "coordinated_omission"),
        ),
    ];
    failed_assertions(
        &assertions,
        &(&read["ios"], p50("lat_ns"), p50("intended_lat_ns"), codes),
    )
}

#[test]
fn intended_latency_includes_a_stall() {
    on_an_idle_host("stalled rate", || {
        check_late_starts(&stalled(json!({"rate_iops": 1000})))
    });
}
