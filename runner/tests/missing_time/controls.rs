//! Healthy runs that resemble runs with missing time.

use super::{
    Case, LENGTH, job,
    outcome::{Claims, Outcome, Run, lower_bounds, number},
    run_all,
    storage::{Completion, HEALTHY, Storage},
};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn healthy_runs_are_not_stalled() {
    let cases: [Case; 8] = [
        ("300 ms, psync", |case| {
            slow(
                case,
                300,
                json!({"runtime": "4s", "ioengine": "psync"}),
                11.0..=14.0,
            );
        }),
        ("300 ms, io_uring", |case| {
            slow(case, 300, json!({"runtime": "4s"}), 11.0..=14.0);
        }),
        ("1.5 s, psync", |case| {
            slow(
                case,
                1500,
                json!({"runtime": "7s", "ioengine": "psync"}),
                4.0..=5.0,
            );
        }),
        ("1.5 s, io_uring, depth 4", |case| {
            slow(
                case,
                1500,
                json!({"runtime": "7s", "iodepth": 4}),
                16.0..=20.0,
            );
        }),
        ("rate", |case| {
            waits(case, json!({"rate_iops": 1}));
        }),
        ("thinktime", |case| {
            waits(case, json!({"thinktime": "1500ms", "ioengine": "psync"}));
        }),
        ("startdelay", start_delay),
        ("depth 32", depth_32),
    ];
    run_all(&cases);
}

fn run(delay: Duration, changes: Value) -> Option<Outcome> {
    let storage = Storage::new(&["t1"], LENGTH, move |_| Completion::After(delay))?;
    Some(Run::start(&job(&storage.file("t1"), changes), &[]).finish(|| storage.release()))
}

/// Storage that is slow but has a constant latency.
fn slow(case: &str, delay_ms: u64, changes: Value, ios: std::ops::RangeInclusive<f64>) {
    let Some(outcome) = run(Duration::from_millis(delay_ms), changes) else {
        return;
    };
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    claims.within("completed", number(&read["ios"]), ios);
    let threshold = number(&outcome.job(0)["stalls"]["threshold_ms"]);
    let expected = (10.0 * delay_ms as f64).max(1000.0);
    claims.within("threshold_ms", threshold, expected * 0.95..=expected * 1.3);
    let median = number(&read["lat_ns"]["percentiles"]["50"]) / 1e6;
    claims.within(
        "median",
        median,
        delay_ms as f64 * 0.97..=delay_ms as f64 * 1.3,
    );
    let age = number(&read["unfinished"]["oldest_ns"]) / 1e6;
    claims.within("age", age, 0.0..=delay_ms as f64 + 200.0);
}

/// Jobs that intentionally issue no I/O for more than a second.
fn waits(case: &str, changes: Value) {
    let changes = super::with(&json!({"runtime": "5s"}), changes);
    let Some(outcome) = run(HEALTHY, changes) else {
        return;
    };
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    for (_, sample) in outcome.samples() {
        claims.within("silent_ms", number(&sample["silent_ms"]), 0.0..=300.0);
    }
    claims.within(
        "completed",
        number(&outcome.report()["read"]["ios"]),
        3.0..=6.0,
    );
}

fn depth_32(case: &str) {
    let Some(outcome) = run(HEALTHY, json!({"runtime": "3s", "iodepth": 32})) else {
        return;
    };
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    let latency = &read["lat_ns"];
    let unfinished = &read["unfinished"];
    claims.within("unfinished", number(&unfinished["ios"]), 0.0..=32.0);
    // The ages are shorter than the slowest latency, unless one of them is in the same histogram
    // bucket.
    let oldest = number(&unfinished["oldest_ns"]);
    let is_slowest = oldest > number(&latency["max"]) * 0.98;
    claims.holds(
        "no lower bounds",
        is_slowest || lower_bounds(latency).is_empty(),
    );
    claims.equal("count", &latency["count"], &read["ios"]);
    for (_, sample) in outcome.samples() {
        claims.within("silent_ms", number(&sample["silent_ms"]), 0.0..=300.0);
    }
    claims.equal("pauses", outcome.pauses().len(), 0);
}

/// A job that has not started yet is not waiting for I/O.
fn start_delay(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |_| Completion::After(HEALTHY)) else {
        return;
    };
    let named = |name: &str, delay: &str| {
        let changes =
            json!({"name": name, "startdelay": delay, "runtime": "2s", "ioengine": "psync"});
        job(&storage.file("t1"), changes)
    };
    let jobs = json!({"jobs": [named("now", "0"), named("later", "2500ms")]});
    let outcome = Run::start(&jobs, &[]).finish(|| storage.release());
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    for (_, sample) in outcome.samples() {
        claims.within("silent_ms", number(&sample["silent_ms"]), 0.0..=300.0);
    }
}
