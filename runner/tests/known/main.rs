//! Cases whose answer is known before the runner is asked: files and devices are brought into a state by the test itself, on
//! loop devices of its own, and the verdict has to say what that state means. The table (`cases`) tells of each how the truth is
//! known; fio and the block layer's counters are the witness of the shares (`witness`).
//!
//! `LEADLINE_REPEAT=20 cargo test -p leadline-runner --test known` runs each case 20 times.

#![allow(clippy::print_stdout, reason = "the shares beside their witness's are there to be read")]

#[path = "../scratch/mod.rs"]
mod scratch;

mod cases;
mod neighbour;
mod places;
mod run;
mod state;
mod turn;
mod witness;

use std::env;

use cases::{CASES, Case};
use places::Places;
use serde_json::{Value, json};

/// Both must give the same answer.
const ENGINES: [&str; 2] = ["io_uring", "psync"];
/// At least so many are known.
const FEWEST_CASES: usize = 40;

#[test]
fn what_is_known_is_what_is_told() {
    let Some(places) = Places::make() else { return };
    let repeat: usize = env::var("LEADLINE_REPEAT").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    let only = env::var("LEADLINE_CASE").unwrap_or_default();
    let chosen: Vec<&Case> = CASES.iter().filter(|case| case.name.contains(&only)).collect();
    let mut wrong = Vec::new();
    for case in &chosen {
        for engine in ENGINES {
            let failed: Vec<String> = (0..repeat).filter_map(|_| check(case, engine, &places).err()).collect();
            println!("{} ({engine}): {} of {repeat} right", case.name, repeat - failed.len());
            wrong.extend(failed);
        }
    }
    println!("{} cases, {} engines, {repeat} times: {} wrong", chosen.len(), ENGINES.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!only.is_empty() || chosen.len() >= FEWEST_CASES);
}

/// Brings the case about, runs it, and holds its verdict against the truth.
fn check(case: &Case, engine: &str, places: &Places) -> Result<(), String> {
    let target = places.target(case.place);
    state::bring_about(case.state, &target);
    let mut job = json!({"name": "known", "filename": target.path, "size": "16m", "bs": "4k", "iodepth": 8, "ioengine": engine});
    run::change(&mut job, &json!({"rw": case.rw, "direct": case.direct, "invalidate": 0}));
    run::change(&mut job, &(case.more)());
    let _busy = case.neighbour.map(|kind| neighbour::Neighbour::start(kind, &target));
    let told = run::report(&job, places.root());
    let class = |direction: &str| told["verdict"][direction]["class"].as_str().map(str::to_owned);
    let told_classes = (class("read"), class("write"));
    let want = (case.read.map(str::to_owned), case.write.map(str::to_owned));
    if told_classes == want {
        return Ok(());
    }
    let said = |direction: &str| told["verdict"][direction]["sentence"].as_str().unwrap_or("").to_owned();
    let evidence: Vec<&Value> = ["read", "write"].iter().map(|direction| &told["verdict"][*direction]["evidence"]).collect();
    Err(format!(
        "{} ({engine}): {want:?} is known, since {}; told was {told_classes:?}: {} {}\n  {evidence:?} storage {}",
        case.name,
        case.truth,
        said("read"),
        said("write"),
        told["report"]["storage"]
    ))
}
