//! Cases with known verdicts. The test puts files and devices on its own loop devices into a known
//! state, and the verdict must match that state. `cases` is the table, with the reason for each
//! verdict; `fio_comparison` compares the shares with fio and the device counters.
//!
//! `situations` tests other stacks and engines, and their modifiers and sentences.
//!
//! dm and md devices are tested in user-mode Linux, which the test boots with its own disks
//! (`stacked`).
//!
//! `LEADLINE_REPEAT=20 cargo test -p leadline-runner --test known_cases` runs each case 20 times.

#![allow(clippy::print_stdout, reason = "prints the compared shares")]

#[path = "../scratch/mod.rs"]
mod scratch;

mod cases;
mod fio_comparison;
mod foreign_io;
mod live_gauge;
mod multiple_jobs;
mod situations;
mod stack;
mod stacked;
mod state;
mod test_targets;
mod transition;

use cases::{CASES, Case};
use scratch::program::{report_in_root, with};
use serde_json::{Value, json};
use std::env;
use test_targets::TestTargets;

/// Every case runs with each of these engines, and the verdicts must be the same.
const ENGINES: [&str; 2] = ["io_uring", "psync"];
const MIN_CASES: usize = 40;
/// Repetitions of each case; default 1.
const REPEAT: &str = "LEADLINE_REPEAT";
/// Selects the cases whose names contain its value.
const CASE_FILTER: &str = "LEADLINE_CASE";

#[test]
fn verdicts_match_the_known_cases() {
    let Some(test_targets) = TestTargets::create() else {
        return;
    };
    let count = check_all(CASES, &test_targets, |_, _| Ok(()));
    assert!(env::var_os(CASE_FILTER).is_some() || count >= MIN_CASES);
}

fn repeat() -> usize {
    env::var(REPEAT)
        .ok()
        .and_then(|times| times.parse().ok())
        .unwrap_or(1)
}

/// Checks each case with each engine. `additional` checks other facts about the result. Returns the
/// number of cases.
pub(crate) fn check_all(
    cases: &[Case],
    test_targets: &TestTargets,
    additional: impl Fn(&Case, &Value) -> Result<(), String>,
) -> usize {
    let repeat = repeat();
    let filter = env::var(CASE_FILTER).unwrap_or_default();
    let chosen: Vec<&Case> = cases
        .iter()
        .filter(|case| case.name.contains(&filter))
        .collect();
    let mut failures = Vec::new();
    for case in &chosen {
        for engine in ENGINES {
            let run =
                || check(case, engine, test_targets).and_then(|result| additional(case, &result));
            let failed: Vec<String> = (0..repeat).filter_map(|_| run().err()).collect();

            println!(
                "{} ({engine}): {} of {repeat} passed",
                case.name,
                repeat - failed.len()
            );
            failures.extend(failed);
        }
    }
    println!(
        "{} cases × {} engines × {repeat} repetitions: {} failed",
        chosen.len(),
        ENGINES.len(),
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    chosen.len()
}

/// Runs a case and checks its verdict. Returns the result.
fn check(case: &Case, engine: &str, test_targets: &TestTargets) -> Result<Value, String> {
    let target = test_targets.target(case.test_target);
    let prepared = state::prepare(case.state, &target);
    let job = json!({"name": "known", "filename": target.path, "size": "16m", "bs": "4k", "iodepth": 8, "ioengine": engine,
        "rw": case.rw, "direct": case.direct, "invalidate": 0});
    let job = with(&job, (case.options)());
    // Locked pages cannot be invalidated.
    let _locked = (job["invalidate"] == 0).then(|| prepared.lock());
    let _foreign_io = case
        .foreign_io
        .map(|kind| foreign_io::ForeignIo::start(kind, &target));
    let result = report_in_root(&job, test_targets.root());
    let class = |direction: &str| verdict_name(&result["verdict"][direction]);
    let classes = (class("read"), class("write"));
    let expected = (case.read.map(str::to_owned), case.write.map(str::to_owned));
    if classes == expected {
        return Ok(result);
    }
    let sentence = |direction: &str| {
        result["verdict"][direction]["sentence"]
            .as_str()
            .unwrap_or("")
            .to_owned()
    };
    let evidence: Vec<&Value> = ["read", "write"]
        .iter()
        .map(|direction| &result["verdict"][*direction]["evidence"])
        .collect();
    Err(format!(
        "{} ({engine}): expected {expected:?} ({}), got {classes:?}: {} {}\n  {evidence:?} storage {}",
        case.name,
        case.reason,
        sentence("read"),
        sentence("write"),
        result["report"]["storage"]
    ))
}

/// The verdict's class. For the class `device`, the first modifier that changes its meaning, if
/// any.
fn verdict_name(verdict: &Value) -> Option<String> {
    let class = verdict["class"].as_str()?;
    let kinds = verdict["modifiers"].as_array().into_iter().flatten();
    let mut kinds = kinds.filter_map(|modifier| modifier["kind"].as_str());
    let modifier = kinds.find(|kind| !["deferred", "split"].contains(kind) && class == "device");
    Some(modifier.unwrap_or(class).to_owned())
}
