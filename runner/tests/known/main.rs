//! Cases whose answer is known before the runner is asked: files and devices are brought into a state by the test itself, on
//! loop devices of its own, and the verdict has to say what that state means. The table (`cases`) tells of each how the truth is
//! known; fio and the block layer's counters are the witness of the shares (`witness`).
//!
//! What a host seldom has, dm and md, comes from a user-mode Linux that the test boots on disks of its own (`uml`): in it the same
//! checks hold a table of their own (`stacked`).
//!
//! `LEADLINE_REPEAT=20 cargo test -p leadline-runner --test known` runs each case 20 times.

#![allow(
    clippy::print_stdout,
    reason = "the shares beside their witness's are there to be read"
)]

#[path = "../scratch/mod.rs"]
mod scratch;

mod cases;
mod neighbour;
mod places;
mod run;
mod stack;
mod stacked;
mod state;
mod turn;
mod uml;
mod witness;

use std::env;

use cases::{CASES, Case};
use places::Places;
use serde_json::{Value, json};

/// Both must give the same answer.
const ENGINES: [&str; 2] = ["io_uring", "psync"];
/// At least so many are known.
const FEWEST_CASES: usize = 40;
/// So many times; once where it is not set.
const REPEAT: &str = "LEADLINE_REPEAT";
/// Only the cases with this in their name.
const ONLY: &str = "LEADLINE_CASE";

#[test]
fn what_is_known_is_what_is_told() {
    let Some(places) = Places::make() else { return };
    let held = hold(CASES, &places, |_, _| Ok(()));
    assert!(env::var_os(ONLY).is_some() || held >= FEWEST_CASES);
}

/// How often each case is run.
fn repeat() -> usize {
    env::var(REPEAT)
        .ok()
        .and_then(|times| times.parse().ok())
        .unwrap_or(1)
}

/// Holds each case by each engine, as often as wanted, and what is `beside` its verdict too; how many there were.
fn hold(
    cases: &[Case],
    places: &Places,
    beside: impl Fn(&Case, &Value) -> Result<(), String>,
) -> usize {
    let repeat = repeat();
    let only = env::var(ONLY).unwrap_or_default();
    let chosen: Vec<&Case> = cases
        .iter()
        .filter(|case| case.name.contains(&only))
        .collect();
    let mut wrong = Vec::new();
    for case in &chosen {
        for engine in ENGINES {
            let held = || check(case, engine, places).and_then(|told| beside(case, &told));
            let failed: Vec<String> = (0..repeat).filter_map(|_| held().err()).collect();

            println!(
                "{} ({engine}): {} of {repeat} right",
                case.name,
                repeat - failed.len()
            );
            wrong.extend(failed);
        }
    }
    println!(
        "{} cases, {} engines, {repeat} times: {} wrong",
        chosen.len(),
        ENGINES.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    chosen.len()
}

/// Brings the case about, runs it, and holds its verdict against the truth; everything that was told.
fn check(case: &Case, engine: &str, places: &Places) -> Result<Value, String> {
    let target = places.target(case.place);
    state::bring_about(case.state, &target);
    let mut job = json!({"name": "known", "filename": target.path, "size": "16m", "bs": "4k", "iodepth": 8, "ioengine": engine});
    run::change(
        &mut job,
        &json!({"rw": case.rw, "direct": case.direct, "invalidate": 0}),
    );
    run::change(&mut job, &(case.more)());
    let _busy = case
        .neighbour
        .map(|kind| neighbour::Neighbour::start(kind, &target));
    let told = run::report(&job, places.root());
    let class = |direction: &str| {
        told["verdict"][direction]["class"]
            .as_str()
            .map(str::to_owned)
    };
    let told_classes = (class("read"), class("write"));
    let want = (case.read.map(str::to_owned), case.write.map(str::to_owned));
    if told_classes == want {
        return Ok(told);
    }
    let said = |direction: &str| {
        told["verdict"][direction]["sentence"]
            .as_str()
            .unwrap_or("")
            .to_owned()
    };
    let evidence: Vec<&Value> = ["read", "write"]
        .iter()
        .map(|direction| &told["verdict"][*direction]["evidence"])
        .collect();
    Err(format!(
        "{} ({engine}): {want:?} is known, since {}; told was {told_classes:?}: {} {}\n  {evidence:?} storage {}",
        case.name,
        case.truth,
        said("read"),
        said("write"),
        told["report"]["storage"]
    ))
}
