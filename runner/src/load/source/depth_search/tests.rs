//! Tests depth searches on simulated storage with a known latency.

use super::*;

const WINDOW_NS: u64 = 1_000_000;

fn options(percentile: f64, continues: bool) -> LatencyTargetOptions {
    LatencyTargetOptions {
        target_us: 100,
        window_us: 1000,
        percentile,
        continues,
    }
}

/// Depths of all tests on storage whose latency is `us_per_io` µs for each I/O in flight. In every
/// test, 100 I/Os complete, and `slow` of them take longer.
fn depths(search: &mut DepthSearch, us_per_io: u64, slow: u64, tests: usize) -> Vec<u32> {
    let mut now_ns = 0;
    let mut depths = Vec::new();
    for _ in 0..tests {
        if search.is_done() {
            break;
        }
        depths.push(search.depth());
        for io in 0..100 {
            let us = if io < slow {
                1000
            } else {
                us_per_io * u64::from(search.depth())
            };
            search.complete(us * NS_PER_US, now_ns);
            if search.quiesces() {
                break;
            }
        }
        now_ns += WINDOW_NS;
        search.check(now_ns);
        if search.quiesces() {
            search.resume(now_ns);
        }
    }
    depths
}

#[test]
fn doubles_until_a_test_fails_then_bisects() {
    // Up to 10 I/Os in flight complete within 100 µs.
    let mut search = DepthSearch::new(options(99.0, false), 128);
    let found = depths(&mut search, 10, 0, 100);
    assert_eq!(found[..8], [1, 2, 4, 8, 16, 12, 10, 11], "{found:?}");
    assert_eq!(search.progress(), Progress::Found);
    assert_eq!(search.depth(), 10, "{found:?}");
}

#[test]
fn storage_within_the_limit_reaches_iodepth() {
    let mut search = DepthSearch::new(options(99.0, false), 32);
    // The last depth is tested twice, and then used for the last test.
    assert_eq!(depths(&mut search, 1, 0, 100), [1, 2, 4, 8, 16, 32, 32]);
    assert_eq!(search.progress(), Progress::Found);
}

#[test]
fn the_percentile_allows_slow_ios() {
    let mut search = DepthSearch::new(options(99.0, false), 32);
    depths(&mut search, 1, 1, 100);
    assert_eq!((search.depth(), search.progress()), (32, Progress::Found));
    let mut search = DepthSearch::new(options(99.0, false), 32);
    depths(&mut search, 1, 2, 50);
    assert_eq!(
        (search.depth(), search.progress()),
        (1, Progress::Searching)
    );
}

#[test]
fn at_100_percent_any_slow_io_fails_a_test() {
    let mut search = DepthSearch::new(options(100.0, false), 128);
    let found = depths(&mut search, 10, 0, 100);
    assert_eq!(
        (search.depth(), search.progress()),
        (10, Progress::Found),
        "{found:?}"
    );
    let mut search = DepthSearch::new(options(100.0, false), 128);
    depths(&mut search, 101, 0, 100);
    assert_eq!(search.progress(), Progress::Impossible);
}

#[test]
fn latency_run_periodically_tries_higher_depths() {
    let mut search = DepthSearch::new(options(99.0, true), 128);
    let found = depths(&mut search, 10, 0, 100);
    assert_eq!(search.progress(), Progress::Searching);
    let last = &found[20..];
    assert!(
        last.iter().all(|depth| (9..=12).contains(depth)),
        "{last:?}"
    );
}
