//! Situations that are designed to mislead the verdict, but whose true shares are known by
//! construction. The worst outcome is a wrong verdict that claims certainty; `unknown` is
//! acceptable.
//!
//! `make truth` runs every case with each engine and prints the outcomes. `LEADLINE_CASE=name`
//! selects cases, `LEADLINE_REPEAT=10` repeats each, `LEADLINE_ENGINES=libaio,mmap` uses other
//! engines.

#![allow(clippy::print_stdout, reason = "prints the outcome of each case")]

#[path = "../scratch/mod.rs"]
mod scratch;

mod attacks;
mod case;
mod judge;
mod reads;
mod stacks;
mod writes;

use case::Case;
use judge::Outcome;
use scratch::program::with;
use serde_json::{Value, json};
use std::env;

const ENGINES: &str = "io_uring,psync";

#[test]
#[ignore = "takes minutes; run by `make truth`"]
fn no_confident_wrong_verdict() {
    let (right, unknown) =
        count_outcomes(&[reads::CASES, &writes::cases(), &attacks::cases()].concat());
    assert!(unknown * 20 <= right + unknown, "more than 5 % unknown");
}

/// Repetitions of each case; default 1.
fn repeat() -> usize {
    env::var("LEADLINE_REPEAT").map_or(1, |times| times.parse().unwrap())
}

/// Runs the cases and prints their outcomes. Panics if any is wrong. Returns the number of correct
/// verdicts and the number of unknown ones.
fn count_outcomes(cases: &[Case]) -> (usize, usize) {
    let filter = env::var("LEADLINE_CASE").unwrap_or_default();
    let engines = env::var("LEADLINE_ENGINES").unwrap_or_else(|_| ENGINES.into());
    let mut counts = [0; 4];
    for case in cases.iter().filter(|case| case.name.contains(&filter)) {
        for engine in engines.split(',') {
            for _ in 0..repeat() {
                let outcome = run(case, engine);
                println!("{outcome} {} ({engine})", case.name);
                counts[outcome.index()] += 1;
            }
        }
    }
    let [right, unknown, wrong, skipped] = counts;
    println!("{right} right, {unknown} unknown, {wrong} confidently wrong, {skipped} skipped");
    assert_eq!(wrong, 0);
    (right, unknown)
}

fn run(case: &Case, engine: &str) -> Outcome {
    let directory = scratch::directory();
    let situation = match (case.prepare)(directory.path()) {
        Ok(situation) => situation,
        Err(reason) => return Outcome::Skipped(reason),
    };
    let job = with_engine(&situation.job, engine);
    if engine == "mmap" && job.to_string().contains("\"direct\":1") {
        return Outcome::Skipped("mmap does not support direct I/O".into());
    }
    let result = match case::measure(&job, directory.path(), situation.during_run) {
        Ok(result) => result,
        // The situation was created, so a job that does not run is an error in the case.
        Err(reason) => return Outcome::Wrong(format!("no result: {}", reason.trim())),
    };
    let truths = (situation.truth)(&result);
    judge::judge(&result, &truths)
}

/// Sets the engine of the job, or of every job in the run.
fn with_engine(run: &Value, engine: &str) -> Value {
    let mut run = run.clone();
    match run.get_mut("jobs").and_then(Value::as_array_mut) {
        Some(jobs) => {
            for job in jobs {
                job["ioengine"] = json!(engine);
            }
            run
        }
        None => with(&run, json!({"ioengine": engine})),
    }
}
