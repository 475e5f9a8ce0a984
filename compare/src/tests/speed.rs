//! Measures how long comparisons take:
//!
//!     cargo test -p leadline-compare -- --ignored --nocapture speed

#![allow(clippy::print_stdout, reason = "prints the times")]

use super::{compare_runs, members, run};
use leadline_protocol::run::Run;
use std::time::Instant;

#[test]
#[ignore = "only measures"]
fn comparison_time() {
    for runs_per_group in [20, 50] {
        for paired in [true, false] {
            let group = |first: u64| -> Vec<Run> {
                let numbers = first..first + runs_per_group;
                // Distinct values in pseudo-random order.
                let iops = |number: u64| 1000.0 + (number * 7919 % 997) as f64 / 10.0;
                numbers
                    .map(|number| run(number, iops(number), "device", "6.1"))
                    .collect()
            };
            let runs: Vec<Vec<Run>> = (0..8).map(|index| group(index * 100 + 1)).collect();
            let labels = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let groups: Vec<_> = labels
                .into_iter()
                .zip(&runs)
                .map(|(label, runs)| (label, members(runs, paired)))
                .collect();
            let start = Instant::now();
            let assessment = compare_runs(&groups);
            let elapsed = start.elapsed();
            assert_eq!(assessment.groups.len(), 8);
            println!("8 groups of {runs_per_group}, paired: {paired}: {elapsed:.1?}");
        }
    }
}
