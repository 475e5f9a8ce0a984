//! Checks that runs match their plans. Generated jobs are planned and then run on scratch
//! filesystems; a run's problems, I/Os, bytes, phases, times, memory and files are compared with
//! the plan. The expected I/O counts are computed here, based on the documentation.
//!
//! `cargo test -p leadline-runner --test planned_runs -- --ignored --nocapture` runs all 1,000
//! jobs; with `LEADLINE_CASE=N`, it runs only one of them.

#[path = "../scratch/mod.rs"]
mod scratch;

mod checks;
mod expected;
mod files;
mod generated;
mod known;
mod observed;
mod rates;
mod times;

use files::{Case, Scene};
use observed::Observed;
use std::{collections::BTreeMap, env, sync::Mutex};

/// Number of jobs in the subset that always runs.
const SUBSET: u64 = 150;
const ALL: u64 = 1000;
const THREADS: u64 = 4;

/// Results of all cases.
#[derive(Default)]
struct Results {
    done: usize,
    /// Number of jobs that the plan rejects, by problem code.
    rejected: BTreeMap<String, usize>,
    /// Peak memory usage of a run beyond its planned buffers, in bytes.
    overhead_bytes: u64,
    violations: Vec<String>,
}

impl Results {
    fn add(&mut self, seed: u64, case: &Case, observed: &Observed) {
        let problems = &observed.plan.problems;
        self.done += usize::from(problems.is_empty());
        if let Some(problem) = problems.first() {
            *self.rejected.entry(problem.code.clone()).or_default() += 1;
        }
        let buffers = observed.plan.estimate.buffer_bytes;
        let overhead = observed.run.peak_rss_bytes.saturating_sub(buffers);
        self.overhead_bytes = self.overhead_bytes.max(overhead);
        let found = checks::violations(case, observed);
        let lines = found
            .iter()
            .map(|line| format!("case {seed}: {line}\n    {case}"));
        self.violations.extend(lines);
    }
}

fn check(seeds: impl Iterator<Item = u64>) {
    let Some(scene) = Scene::create() else { return };
    let selected = env::var("LEADLINE_CASE").ok();
    let selected: Option<u64> = selected.map(|seed| seed.parse().unwrap());
    let seeds: Vec<u64> = selected.map_or_else(|| seeds.collect(), |seed| vec![seed]);
    let results = Mutex::new(Results::default());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let seeds = seeds.iter().skip(thread as usize).step_by(THREADS as usize);
            let (scene, results) = (&scene, &results);
            scope.spawn(move || {
                for &seed in seeds {
                    let case = generated::case(seed);
                    let observed = Observed::new(&case, scene, seed);
                    results.lock().unwrap().add(seed, &case, &observed);
                }
            });
        }
    });
    let results = results.into_inner().unwrap();
    let (count, done) = (seeds.len(), results.done);
    let overhead_mib = results.overhead_bytes >> 20;
    eprintln!(
        "{count} jobs: {done} ran, up to {overhead_mib} MiB in addition to buffers, rejected {:?}",
        results.rejected
    );
    assert!(
        results.violations.is_empty(),
        "{} violations:\n{}",
        results.violations.len(),
        results.violations.join("\n")
    );
    assert!(
        selected.is_some() || done * 2 > count,
        "only {done} of {count} jobs ran"
    );
}

#[test]
fn runs_match_their_plans() {
    check(0..SUBSET);
}

#[test]
#[ignore = "takes minutes"]
fn all_runs_match_their_plans() {
    check(0..ALL);
}
