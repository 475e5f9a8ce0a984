//! Simulates data sets on all CPUs and counts the outcomes.

use rand::SeedableRng;
use rand::rngs::StdRng;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of data sets per table row.
pub(crate) const DATA_SETS: u64 = 10_000;

/// Returns the percentage of data sets in which each outcome occurred. Each data set has its own
/// seed.
pub(crate) fn shares<const K: usize>(
    seed: u64,
    outcomes: impl Fn(&mut StdRng) -> [bool; K] + Sync,
) -> [f64; K] {
    let next = AtomicU64::new(0);
    let worker = || {
        let mut counts = [0_u64; K];
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= DATA_SETS {
                return counts;
            }
            let mut random = StdRng::seed_from_u64(seed.wrapping_mul(1_000_003) + index);
            for (count, outcome) in counts.iter_mut().zip(outcomes(&mut random)) {
                *count += u64::from(outcome);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let mut shares = [0.0; K];
        for worker in workers {
            let counts = worker.join().expect("worker");
            for (share, count) in shares.iter_mut().zip(counts) {
                *share += 100.0 * count as f64 / DATA_SETS as f64;
            }
        }
        shares
    })
}

/// Formats a Markdown table.
pub(crate) fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let header: Vec<String> = columns.iter().map(|c| (*c).to_owned()).collect();
    let rules: Vec<String> = columns.iter().map(|_| "---".to_owned()).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    line(&header) + &line(&rules).replace(' ', "") + &rows
}

pub(crate) fn percent(share: f64) -> String {
    format!("{share:.1}")
}
