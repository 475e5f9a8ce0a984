//! Error rate of comparisons between real runs: equal steps (A/A) and steps with a known slowdown
//! (A/B), interleaved in random order, ten pairs each.
//!
//! Takes ten minutes:
//! `cargo test -p leadline-runner --test runner false_verdicts:: -- --ignored --nocapture`.

// The test prints its results as a table.
#![allow(clippy::print_stdout)]

use crate::scratch;
use crate::scratch::program::runner;
use serde_json::{Value, json};
use std::{fs, path::Path};

const PAIRS: u32 = 10;
/// I/Os per second of the faster step. All targets must sustain it, even while other programs run.
const RATE: u32 = 2000;
/// Comparisons per target.
const COMPARISONS: u32 = 14;

/// Verdict counts for one metric.
#[derive(Default)]
struct Count {
    better_or_worse: u32,
    worse: u32,
    all: u32,
}

impl Count {
    fn add(&mut self, comparison: &Value, metric: &str) {
        let metrics = comparison["metrics"].as_array().unwrap();
        let row = metrics.iter().find(|row| row["name"] == metric).unwrap();
        let verdict = row["changes"][1]["verdict"].as_str().unwrap();
        self.all += 1;
        self.worse += u32::from(verdict == "worse");
        self.better_or_worse += u32::from(["better", "worse"].contains(&verdict));
    }
}

fn study(a: &Value, b: &Value) -> Value {
    json!({"name": "pairs", "repeats": PAIRS, "idle_wait_seconds": 0, "steps": [
        {"name": "a", "jobs": [a]}, {"name": "b", "jobs": [b]}]})
}

/// Runs a study and compares its steps.
fn compare(directory: &Path, study: &Value) -> Value {
    let file = directory.join("study.json");
    fs::write(&file, study.to_string()).unwrap();
    let run = runner()
        .arg("run")
        .arg(&file)
        .arg("--json")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{stderr}");
    let results = directory.join("results.json");
    fs::write(&results, &run.stdout).unwrap();
    let step = |number: u32| format!("{}#{number}", results.display());
    let output = runner()
        .args(["compare", &step(1), &step(2), "--format", "json"])
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    json["comparison"].clone()
}

/// Jobs on a cached file, and on a file and a loop device with direct I/O.
fn targets(directory: &Path) -> [(&'static str, Value); 3] {
    let job = |changes: Value| {
        let mut job = json!({"filename": directory.join("target"), "size": "64m", "rw": "randread",
            "bs": "4k", "runtime": "250ms", "time_based": 1});
        for (name, value) in changes.as_object().unwrap() {
            job[name] = value.clone();
        }
        job
    };
    [
        (
            "page cache",
            job(json!({"direct": 0, "ioengine": "psync", "cache_state": "warm"})),
        ),
        ("file", job(json!({"direct": 1, "iodepth": 4}))),
        (
            "loop device",
            job(json!({"direct": 1, "iodepth": 4, "loop_device": 1})),
        ),
    ]
}

#[test]
#[ignore = "measures for ten minutes"]
fn error_rates_of_real_runs() {
    let directory = scratch::directory();
    println!("| target | comparisons | A/A: IOPS | A/A: p99 | A/B, 5 % lower rate: IOPS |");
    println!("|---|---:|---:|---:|---:|");
    let (mut wrong, mut found, mut all) = (0, 0, 0);
    for (name, job) in targets(directory.path()) {
        let (mut iops, mut p99, mut slower) =
            (Count::default(), Count::default(), Count::default());
        for _ in 0..COMPARISONS {
            let equal = compare(directory.path(), &study(&job, &job));
            iops.add(&equal, "read_iops");
            p99.add(&equal, "read_lat_p99_ns");
            let at_rate = |rate: u32| {
                let mut job = job.clone();
                job["rate_iops"] = json!(rate);
                job
            };
            let changed = compare(
                directory.path(),
                &study(&at_rate(RATE), &at_rate(RATE * 95 / 100)),
            );
            slower.add(&changed, "read_iops");
        }
        let of = |count: u32, all: u32| format!("{count} of {all}");
        println!(
            "| {name} | {COMPARISONS} | {} | {} | {} |",
            of(iops.better_or_worse, iops.all),
            of(p99.better_or_worse, p99.all),
            of(slower.worse, slower.all)
        );
        wrong += iops.better_or_worse + p99.better_or_worse;
        found += slower.worse;
        all += COMPARISONS;
    }
    println!(
        "{wrong} of {} A/A verdicts are wrong; {found} of {all} slowdowns were detected",
        2 * all
    );
    // At an error rate of 5 %, the probability of more than 9 wrong verdicts in 84 is below 1 %.
    assert!(wrong <= 9, "{wrong} wrong verdicts");
    assert!(found * 10 >= all * 8, "{found} of {all} slowdowns");
}
