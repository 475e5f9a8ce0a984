//! Compares arrival schedules with calculated times and, if random, with their distribution.

use crate::{
    load::{
        goodness_of_fit::ks_distance,
        rate::{
            arrival_schedule::{MAX_RATE, NS_PER_SECOND},
            *,
        },
    },
    plan::fixture::{resolved, same},
};
use proptest::prelude::*;
use serde_json::{Value, json};

const NS_PER_MS: u64 = 1_000_000;

fn limiter(options: Value) -> Option<RateLimiter> {
    RateLimiter::new(&resolved(options), 0)
}

fn rate_iops(per_second: u64) -> Value {
    json!({"rate_iops": same(&json!(per_second))})
}

fn io(kind: Kind, len: u32) -> Io {
    Io {
        len,
        kind,
        ..Io::default()
    }
}

fn read(len: u32) -> Io {
    io(Kind::Read, len)
}

/// Due times of 4 KiB reads that complete instantly.
fn due_times(options: Value, count: usize) -> Vec<u64> {
    let mut limiter = limiter(options).expect("a limit");
    let mut now_ns = 0;
    let mut times = Vec::new();
    for _ in 0..count {
        now_ns = limiter.due(&read(4096), now_ns).at_ns.max(now_ns);
        times.push(now_ns);
    }
    times
}

#[test]
fn jobs_without_limits_have_no_limiter() {
    assert!(limiter(json!({})).is_none());
    let writes_only = json!({"rw": "read", "rate": {"read": null, "write": 1000, "trim": 1000}});
    assert!(limiter(writes_only).is_none(), "the job does not write");
}

#[test]
fn due_times_follow_rate_and_thinktime() {
    let check = |options, expected_ms: &[u64]| {
        let times = due_times(options, expected_ms.len());
        let expected: Vec<u64> = expected_ms.iter().map(|ms| ms * NS_PER_MS).collect();
        assert_eq!(times, expected);
    };
    check(rate_iops(1000), &[0, 1, 2, 3]);
    check(rate_iops(1), &[0, 1000, 2000]);
    check(json!({"rate": same(&json!(4096))}), &[0, 1000, 2000]);
    check(json!({"thinktime_us": 5000}), &[0, 5, 10, 15]);
    check(
        json!({"thinktime_us": 5000, "thinktime_blocks": 3}),
        &[0, 0, 0, 5, 5, 5, 10],
    );
    check(
        json!({"thinktime_us": 5000, "thinktime_blocks": 2, "rate_iops": same(&json!(500))}),
        &[0, 2, 7, 7, 12, 12],
    );
}

#[test]
fn pauses_start_after_thinktime_iotime() {
    let times = |options| due_times(options, 6);
    let ms = |ms: [u64; 6]| ms.map(|ms| ms * NS_PER_MS);
    // Reads every 2 ms: a pause after 5 ms, then again 5 ms after its end.
    let rated = json!({
        "thinktime_us": 10_000, "thinktime_iotime_us": 5000, "thinktime_blocks": null,
        "rate_iops": same(&json!(500)),
    });
    assert_eq!(times(rated), ms([0, 2, 4, 6, 16, 16]));
    // A pause starts after 2 I/Os or 5 ms, whichever comes first.
    let both = json!({
        "thinktime_us": 10_000, "thinktime_iotime_us": 5000, "thinktime_blocks": 2,
        "rate_iops": same(&json!(500)),
    });
    assert_eq!(times(both), ms([0, 2, 12, 12, 22, 22]));
}

#[test]
fn spinning_is_part_of_the_pause() {
    let mut limiter =
        limiter(json!({"thinktime_us": 5000, "thinktime_spin_us": 2000})).expect("a limit");
    let first = limiter.due(&read(4096), 0);
    assert_eq!((first.at_ns, first.spin_until_ns), (0, 0));
    let paused = limiter.due(&read(4096), NS_PER_MS);
    assert_eq!(paused.at_ns, 6 * NS_PER_MS);
    assert_eq!(paused.spin_until_ns, 3 * NS_PER_MS);
}

#[test]
fn directions_have_independent_schedules() {
    let rates = json!({"rw": "rw", "rate_iops": {"read": 10, "write": 100, "trim": null}});
    let mut limiter = limiter(rates).unwrap();
    let kinds = [Kind::Read, Kind::Write, Kind::Write, Kind::Read];
    let due_ms = kinds.map(|kind| limiter.due(&io(kind, 4096), 0).at_ns / NS_PER_MS);
    assert_eq!(due_ms, [0, 0, 10, 100]);
}

#[test]
fn syncs_are_always_due_and_not_counted() {
    let options = json!({"rate_iops": same(&json!(10)), "thinktime_us": 10});
    let mut limiter = limiter(options).unwrap();
    let sync = io(Kind::Sync, 0);
    limiter.due(&read(4096), 0);
    assert!(limiter.pauses_before(&read(4096), 0));
    assert!(!limiter.pauses_before(&sync, 0));
    assert_eq!(limiter.due(&sync, 7).at_ns, 7);
    assert_eq!(limiter.due(&read(4096), 7).at_ns, 100_000_000);
}

#[test]
fn a_late_job_catches_up() {
    let mut limiter = limiter(rate_iops(1000)).unwrap();
    for index in 0..5 {
        let due = limiter.due(&read(4096), NS_PER_SECOND);
        assert_eq!(due.at_ns, index * NS_PER_MS);
    }
}

#[test]
fn a_schedule_does_not_drift_within_a_day() {
    const PER_SECOND: u64 = 333;
    let mut limiter = limiter(rate_iops(PER_SECOND)).unwrap();
    for _ in 0..PER_SECOND * 86_400 {
        limiter.due(&read(4096), 0);
    }
    let due = limiter.due(&read(4096), 0);
    assert_eq!(due.at_ns, 86_400 * NS_PER_SECOND);
}

proptest! {
    #[test]
    fn byte_rates_schedule_ios_by_the_preceding_bytes(
        per_second in 1u64..u64::MAX,
        lens in prop::collection::vec(1u32..=1 << 30, 1..200),
    ) {
        let mut limiter = limiter(json!({"rate": same(&json!(per_second))})).unwrap();
        let mut before = 0u128;
        for len in lens {
            let rate = u128::from(per_second.min(MAX_RATE));
            let exact = before * u128::from(NS_PER_SECOND) / rate;
            let exact = u64::try_from(exact).unwrap_or(u64::MAX);
            prop_assert_eq!(limiter.due(&read(len), 0).at_ns, exact);
            before += u128::from(len);
        }
    }
}

/// Intervals in ns between `count` reads of a Poisson process.
fn intervals(mut options: Value, worker: u32, lens: &[u32], count: usize) -> Vec<f64> {
    options["rate_process"] = json!("poisson");
    let mut limiter = RateLimiter::new(&resolved(options), worker).expect("a limit");
    let mut last_ns = 0;
    let mut intervals = Vec::new();
    for len in lens.iter().cycle().take(count) {
        let at_ns = limiter.due(&read(*len), 0).at_ns;
        intervals.push((at_ns - last_ns) as f64);
        last_ns = at_ns;
    }
    intervals
}

#[test]
fn poisson_intervals_are_exponential_and_keep_the_rate() {
    const COUNT: usize = 400_000;
    for per_second in [1u64, 1000, 200_000, 1_000_000] {
        let intervals = intervals(rate_iops(per_second), 0, &[4096], COUNT);
        let expected = NS_PER_SECOND as f64 / per_second as f64;
        let mean = intervals.iter().sum::<f64>() / COUNT as f64;
        let error = (mean / expected - 1.0).abs();
        assert!(error < 0.005, "{per_second}/s: mean interval {mean} ns");
        let distance = ks_distance(intervals, |ns| 1.0 - (-ns / expected).exp());
        // Rounding to ns is noticeable if the mean interval is 1000 ns.
        assert!(distance < 2.0, "{per_second}/s: distance {distance}");
    }
}

#[test]
fn poisson_counts_per_window_have_equal_mean_and_variance() {
    let intervals = intervals(rate_iops(10_000), 0, &[4096], 500_000);
    let mut counts = vec![0f64; 4_000];
    let mut now_ns = 0.0;
    for interval in intervals {
        now_ns += interval;
        if let Some(count) = counts.get_mut((now_ns / 1e7) as usize) {
            *count += 1.0;
        }
    }
    let windows = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / windows;
    let squares = counts.iter().map(|count| (count - mean).powi(2));
    let variance = squares.sum::<f64>() / windows;
    assert!((mean - 100.0).abs() < 1.0, "mean {mean}");
    assert!(
        (variance / mean - 1.0).abs() < 0.1,
        "mean {mean}, variance {variance}"
    );
}

#[test]
fn poisson_byte_rates_hold_for_mixed_sizes() {
    let options = json!({"rate": same(&json!(1 << 30))});
    let intervals = intervals(options, 0, &[4096, 65536], 400_000);
    let bytes = 200_000.0 * (4096.0 + 65536.0);
    let per_second = bytes / intervals.iter().sum::<f64>() * 1e9;
    let error = (per_second / f64::from(1 << 30) - 1.0).abs();
    assert!(error < 0.01, "{per_second} bytes/s");
}

#[test]
fn poisson_schedules_depend_only_on_seed_and_worker() {
    let intervals = |worker| intervals(rate_iops(100), worker, &[4096], 100);
    assert_eq!(intervals(0), intervals(0));
    assert_ne!(intervals(0), intervals(1));
}

#[test]
fn the_intended_start_ignores_delays() {
    let options = json!({
        "rw": "rw", "thinktime_us": 500_000,
        "rate_iops": {"read": 10, "write": null, "trim": null},
    });
    let mut limiter = limiter(options).unwrap();
    let mut check = |kind, now_ms: u64, at_ms: u64, intended_ms: Option<u64>| {
        let due = limiter.due(&io(kind, 4096), now_ms * NS_PER_MS);
        assert_eq!(due.at_ns / NS_PER_MS, at_ms);
        assert_eq!(due.intended_ns.map(|ns| ns / NS_PER_MS), intended_ms);
    };
    check(Kind::Read, 0, 0, Some(0));
    // The pause delays the I/O, but not the schedule.
    check(Kind::Read, 700, 1200, Some(100));
    // Writes have no rate.
    check(Kind::Write, 1200, 1700, None);
}
