//! Tests buckets for runs with different lengths and sampling intervals.

use super::*;

fn extent(run: u64, seconds: f64, sample_ms: u32) -> Extent {
    Extent::of(run, seconds * 1e3, sample_ms, false)
}

/// `expected`: bucket length in ms, number of buckets, and each run's rollup.
fn check_grid(runs: &[Extent], expected: (f64, usize, &[Option<u32>])) {
    let references: Vec<&Extent> = runs.iter().collect();
    let grid = CommonGrid::new(&references).unwrap();
    let rollups: Vec<Option<u32>> = runs.iter().map(|run| grid.for_run(run).rollup).collect();
    assert_eq!((grid.bucket_ms(), grid.len(), rollups.as_slice()), expected);
    assert_eq!(grid.ends_ms().len(), grid.len());
}

#[test]
fn buckets_cover_the_longest_run() {
    check_grid(&[extent(1, 3.0, 100)], (100.0, 30, &[None]));
    // One sampling window ended late.
    check_grid(&[extent(1, 3.01, 100)], (100.0, 31, &[None]));
    let runs = [extent(1, 30.0, 100), extent(2, 60.0, 100)];
    check_grid(&runs, (200.0, 300, &[None, None]));
    let runs = [extent(1, 3600.0, 100), extent(2, 1800.0, 100)];
    check_grid(&runs, (12_000.0, 300, &[Some(20), Some(20)]));
}

#[test]
fn sampling_intervals_may_differ() {
    let runs = [extent(1, 30.0, 100), extent(2, 30.0, 250)];
    check_grid(&runs, (250.0, 120, &[None, None]));
    let runs = [extent(1, 3600.0, 10), extent(2, 3600.0, 100)];
    check_grid(&runs, (12_000.0, 300, &[Some(200), Some(20)]));
}

#[test]
fn many_runs_use_longer_rollups() {
    let hours: Vec<Extent> = (0..160).map(|run| extent(run, 3600.0, 100)).collect();
    check_grid(&hours, (20_000.0, 180, &[Some(200); 160]));
    let short: Vec<Extent> = (0..160).map(|run| extent(run, 30.0, 100)).collect();
    check_grid(&short, (2_000.0, 15, &[Some(20); 160]));
    let uneven: Vec<Extent> = (0..160).map(|run| extent(run, 31.0, 100)).collect();
    check_grid(&uneven, (2_000.0, 16, &[Some(20); 160]));
}

#[test]
fn compressed_samples_have_no_window_histograms() {
    let runs = [Extent::of(1, 30_000.0, 100, true), extent(2, 30.0, 100)];
    check_grid(&runs, (2_000.0, 15, &[Some(20), Some(20)]));
}

#[test]
fn runs_without_samples_have_no_buckets() {
    check_grid(&[extent(1, 0.0, 100)], (100.0, 0, &[None]));
    check_grid(&[], (1.0, 0, &[]));
}

#[test]
fn runs_lasting_months_are_rejected() {
    let runs: Vec<Extent> = (0..47).map(|run| extent(run, 86_400.0, 100)).collect();
    let references: Vec<&Extent> = runs.iter().collect();
    assert_eq!(CommonGrid::new(&references).unwrap_err().code, "too_long");
}
