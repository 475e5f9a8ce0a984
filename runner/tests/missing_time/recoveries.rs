//! Storage that hangs and recovers before the end of the run.

use super::{
    Case, LENGTH, job,
    outcome::{Claims, EARLY, LATE, Outcome, Run, lower_bounds, number},
    run_all,
    scratch::program::with,
    storage::{Completion, HEALTHY, Storage},
};
use serde_json::{Value, json};
use std::{ops::Range, time::Duration};

#[test]
fn reports_stalls_that_end_before_the_run() {
    let cases: [Case; 6] = [
        ("psync", |case| {
            recovers(case, 1, json!({"ioengine": "psync"}));
        }),
        ("io_uring, depth 1", |case| recovers(case, 1, json!({}))),
        ("io_uring, depth 32", |case| {
            recovers(case, 32, json!({"iodepth": 32}));
        }),
        ("too short to fail", short),
        ("twice", twice),
        ("every tenth I/O", every_tenth),
    ];
    run_all(&cases);
}

/// Runs a job on storage that completes nothing during `hangs`, in seconds since the first I/O.
fn run(hangs: Vec<Range<f64>>, changes: Value) -> Option<(Storage, Outcome)> {
    let storage = Storage::new(&["t1"], LENGTH, move |io| {
        let at = io.at.as_secs_f64();
        match hangs.iter().find(|hang| hang.contains(&at)) {
            Some(hang) => Completion::At(Duration::from_secs_f64(hang.end)),
            None => Completion::After(HEALTHY),
        }
    })?;
    let outcome = Run::start(&job(&storage.file("t1"), changes), &[]).finish(|| storage.release());
    Some((storage, outcome))
}

fn recovers(case: &str, depth: u64, changes: Value) {
    let changes = with(&json!({"runtime": "4s"}), changes);
    let Some((storage, outcome)) = run(vec![0.5..2.5], changes) else {
        return;
    };
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    claims.one_stall(0, 0.5..2.5, 4.0);
    claims.silence_is_shown(storage.first_io().unwrap(), 0.5..2.5);
    claims.within(
        "max",
        number(&read["lat_ns"]["max"]) / 1e9,
        2.0 - LATE..=2.0 + LATE,
    );
    claims.equal("lower bounds", lower_bounds(&read["lat_ns"]), vec![]);
    let unfinished = &read["unfinished"];
    claims.within("unfinished", number(&unfinished["ios"]), 0.0..=depth as f64);
    claims.within("age", number(&unfinished["oldest_ns"]) / 1e9, 0.0..=0.3);
    let first = storage.first_io().unwrap();
    for (at, sample) in outcome.samples() {
        let at = at.saturating_duration_since(first).as_secs_f64();
        if (2.5 + EARLY..3.9).contains(&at) {
            claims.within(
                "silent_ms after the hang",
                number(&sample["silent_ms"]),
                0.0..=300.0,
            );
        }
    }
}

/// Hangs for 1.3 of 14.5 s.
fn short(case: &str) {
    let Some((_, outcome)) = run(vec![1.0..2.3], json!({"runtime": "14500ms", "iodepth": 4}))
    else {
        return;
    };
    let mut claims = Claims::about(case, &outcome);
    claims.equal("exit code", outcome.code, Some(0));
    claims.one_stall(0, 1.0..2.3, 14.5);
    let serious = outcome.finding("stalled") == Some("serious");
    claims.holds("the run did not fail", !serious);
}

fn twice(case: &str) {
    let Some((_, outcome)) = run(
        vec![0.5..2.0, 3.0..5.0],
        json!({"runtime": "6s", "iodepth": 8}),
    ) else {
        return;
    };
    let stalls = outcome.stalls(0);
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    claims.equal("count", outcome.job(0)["stalls"]["count"].as_u64(), Some(2));
    claims.equal("spans", stalls.len(), 2);
    for (stall, hang) in stalls.iter().zip([0.5..2.0, 3.0..5.0]) {
        let length: f64 = hang.end - hang.start;
        claims.within("start", stall.start, hang.start - LATE..=hang.start + EARLY);
        claims.within("length", stall.seconds, length - EARLY..=length + LATE);
    }
    let total = number(&outcome.job(0)["stalls"]["total_ms"]) / 1e3;
    claims.within("total", total, 3.5 - 2.0 * EARLY..=3.5 + 2.0 * LATE);
    let longest = number(&outcome.job(0)["stalls"]["longest_ms"]) / 1e3;
    claims.within("longest", longest, 2.0 - EARLY..=2.0 + LATE);
}

/// Only one I/O is in flight at a time, so nothing completes during each delay. The percentiles
/// follow from the counts: 10 % of the I/Os take 1.5 s.
fn every_tenth(case: &str) {
    const DELAY: f64 = 1.5;
    let Some(storage) = Storage::new(&["t1"], LENGTH, |io| {
        if io.index % 10 == 9 {
            Completion::After(Duration::from_secs_f64(DELAY))
        } else {
            Completion::After(HEALTHY)
        }
    }) else {
        return;
    };
    // A cycle consists of 9 healthy I/Os and one that takes 1.5 s, so the run contains 4 cycles.
    let changes = json!({"ioengine": "psync", "number_ios": 40, "time_based": 0});
    let outcome = Run::start(&job(&storage.file("t1"), changes), &[]).finish(|| storage.release());
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.equal("completed", read["ios"].as_u64(), Some(40));
    claims.equal("count", outcome.job(0)["stalls"]["count"].as_u64(), Some(4));
    for stall in outcome.stalls(0) {
        claims.within("length", stall.seconds, DELAY - EARLY..=DELAY + LATE);
    }
    let total = number(&outcome.job(0)["stalls"]["total_ms"]) / 1e3;
    claims.within("total", total, 4.0 * (DELAY - EARLY)..=4.0 * (DELAY + LATE));
    let percentile = |name: &str| number(&read["lat_ns"]["percentiles"][name]) / 1e9;
    claims.within("p90", percentile("90"), 0.0..=0.5);
    claims.within("p95", percentile("95"), DELAY..=DELAY + LATE);
    claims.equal("lower bounds", lower_bounds(&read["lat_ns"]), vec![]);
    claims.equal("unfinished", read["unfinished"]["ios"].as_u64(), Some(0));
}
