//! Phases end when they should, and a stalled loop shows as a gap.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use serde_json::{Value, json};

use super::quiet::on_an_idle_host;
use super::scratch;
use super::scratch::program::{of_type, report, start, with};

const RAMP_MS: f64 = 200.0;
const RUNTIME_MS: f64 = 500.0;

fn job(changes: Value) -> Value {
    let plain = json!({"name": "times", "ioengine": "null", "size": "1g", "rw": "randread", "bs": "4k", "runtime": "500ms",
        "time_based": 1, "ramp_time": "200ms"});
    with(&plain, changes)
}

/// What is further than a millisecond from where it should be.
fn off_the_borders(report: &Value) -> Option<String> {
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
            "from ramp to measure",
            time("measure", "start_ms") - time("ramp", "start_ms"),
            RAMP_MS,
        ),
    ];
    let wrong: Vec<String> = found
        .iter()
        .filter(|(_, found, wanted)| (found - wanted).abs() > 1.0)
        .map(|(name, found, wanted)| format!("{name} {found} ms for {wanted}"))
        .collect();
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

#[test]
fn ramp_runtime_and_phases_end_within_a_millisecond() {
    let directory = scratch::directory();
    let file = |engine: &str, direct: u8| json!({"ioengine": engine, "filename": directory.path().join("t1"), "size": "16m", "direct": direct});
    let cases = [
        ("a loop that never sleeps", json!({"iodepth": 32})),
        ("a loop that sleeps past its end", json!({"rate_iops": 1})),
        (
            "a ring on the page cache",
            with(&file("io_uring", 0), json!({"iodepth": 32, "pre_read": 1})),
        ),
        ("psync", file("psync", 0)),
        (
            "direct reads",
            with(&file("io_uring", 1), json!({"iodepth": 8})),
        ),
        ("four clones", json!({"numjobs": 4, "rate_iops": 100})),
    ];
    for (name, changes) in cases {
        on_an_idle_host(name, || {
            off_the_borders(&report(&job(changes.clone()))["report"])
        });
    }
}

/// The events of a run that is stopped (SIGSTOP) for two seconds after its first sample, and goes on.
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
        assert!(next(&mut events), "ended without a sample");
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

/// What is not so, with what was seen.
fn untrue(claims: &[(&str, bool)], seen: &dyn std::fmt::Debug) -> Option<String> {
    let untrue: Vec<&str> = claims
        .iter()
        .filter(|(_, holds)| !holds)
        .map(|(claim, _)| *claim)
        .collect();
    (!untrue.is_empty()).then(|| format!("not so: {}; seen: {seen:?}", untrue.join(", ")))
}

fn wrong_about_the_gap(events: &[Value]) -> Option<String> {
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
    let (usual, fastest) = (rates[rates.len() / 2], rates[rates.len() - 1]);
    let (sum, duration): (f64, f64) = (
        windows.iter().map(|window| window.0).sum(),
        number(&report["duration_ms"]),
    );
    let claims = [
        ("one window holds the gap", long.len() == 1),
        (
            "the gap counts as time",
            long.iter().all(|(ms, ios)| ios / ms < usual / 4.0),
        ),
        ("no window makes up for it", fastest < usual * 4.0),
        (
            "what was in flight lasted as long",
            number(&report["read"]["lat_ns"]["max"]) > 1.9e9,
        ),
        (
            "windows add up to the runtime",
            (sum - duration).abs() < 10.0 && (2999.0..3010.0).contains(&duration),
        ),
    ];
    untrue(&claims, &(windows, duration))
}

#[test]
fn a_stalled_loop_shows_as_a_gap_and_never_as_a_fast_interval() {
    on_an_idle_host("a stalled loop", || {
        wrong_about_the_gap(&stalled(json!({})))
    });
}

/// Two of three seconds are lost and made up: the I/Os that were due then come up to two seconds late.
fn wrong_about_those_who_waited(events: &[Value]) -> Option<String> {
    let outcome = of_type(events, "report").next().unwrap();
    let read = &outcome["report"]["read"];
    let p50 = |latency: &str| number(&read[latency]["percentiles"]["50"]);
    let codes: Vec<&Value> = outcome["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| &finding["code"])
        .collect();
    let claims = [
        (
            "the rate is made up",
            (number(&read["ios"]) / 3000.0 - 1.0).abs() < 0.01,
        ),
        ("from submission all is quick", p50("lat_ns") < 0.05e9),
        (
            "from the intended start it is not",
            p50("intended_lat_ns") > 0.3e9,
        ),
        (
            "the longest waited two seconds",
            number(&read["intended_lat_ns"]["max"]) > 1.9e9,
        ),
        (
            "every I/O is counted in both",
            read["intended_lat_ns"]["count"] == read["ios"],
        ),
        (
            "a finding says so",
            codes.iter().any(|code| **code == "coordinated_omission"),
        ),
    ];
    untrue(
        &claims,
        &(&read["ios"], p50("lat_ns"), p50("intended_lat_ns"), codes),
    )
}

#[test]
fn a_job_with_a_rate_tells_what_a_stall_cost_those_who_waited() {
    on_an_idle_host("a stalled rate", || {
        wrong_about_those_who_waited(&stalled(json!({"rate_iops": 1000})))
    });
}
