//! Timetables beside arithmetic and, for random ones, beside theory.

use crate::load::pace::timetable::{FASTEST, NS_PER_SECOND};
use crate::load::pace::*;
use crate::load::theory::ks_distance;
use crate::plan::fixture::{resolved, same};
use proptest::prelude::*;
use serde_json::{Value, json};

fn pace(different: Value) -> Option<Pace> {
    Pace::new(&resolved(different), 0)
}

fn io(kind: Kind, len: u32) -> Io {
    Io {
        offset: 0,
        len,
        target: 0,
        kind,
    }
}

/// Due times of 4 KiB reads when nothing takes time.
fn dues(different: Value, count: usize) -> Vec<u64> {
    let mut pace = pace(different).expect("a limit");
    let mut now = 0;
    (0..count)
        .map(|_| {
            now = pace.due(&io(Kind::Read, 4096), now).at_ns.max(now);
            now
        })
        .collect()
}

#[test]
fn nothing_limits_a_plain_job() {
    assert!(pace(json!({})).is_none());
    assert!(
        pace(json!({"rw": "read", "rate": {"read": null, "write": 1000, "trim": 1000}})).is_none(),
        "the job does not write"
    );
}

#[test]
fn rates_are_timetables() {
    let ms = |different, want: &[u64]| {
        assert_eq!(
            dues(different, want.len()),
            want.iter().map(|ms| ms * 1_000_000).collect::<Vec<_>>()
        )
    };
    ms(json!({"rate_iops": same(&json!(1000))}), &[0, 1, 2, 3]);
    ms(json!({"rate_iops": same(&json!(1))}), &[0, 1000, 2000]);
    ms(json!({"rate": same(&json!(4096))}), &[0, 1000, 2000]);
    ms(json!({"thinktime_us": 5000}), &[0, 5, 10, 15]);
    ms(
        json!({"thinktime_us": 5000, "thinktime_blocks": 3}),
        &[0, 0, 0, 5, 5, 5, 10],
    );
    ms(
        json!({"thinktime_us": 5000, "thinktime_blocks": 2, "rate_iops": same(&json!(500))}),
        &[0, 2, 7, 7, 12, 12],
    );
}

#[test]
fn directions_have_timetables_of_their_own() {
    let mut pace =
        pace(json!({"rw": "rw", "rate_iops": {"read": 10, "write": 100, "trim": null}})).unwrap();
    let mut due = |kind| pace.due(&io(kind, 4096), 0).at_ns / 1_000_000;
    assert_eq!(
        [
            due(Kind::Read),
            due(Kind::Write),
            due(Kind::Write),
            due(Kind::Read)
        ],
        [0, 0, 10, 100]
    );
}

#[test]
fn syncs_are_due_at_once_and_count_for_nothing() {
    let mut pace = pace(json!({"rate_iops": same(&json!(10)), "thinktime_us": 10})).unwrap();
    pace.due(&io(Kind::Read, 4096), 0);
    assert!(pace.rests_before(&io(Kind::Read, 4096)) && !pace.rests_before(&io(Kind::Sync, 0)));
    assert_eq!(pace.due(&io(Kind::Sync, 0), 7).at_ns, 7);
    assert_eq!(pace.due(&io(Kind::Read, 4096), 7).at_ns, 100_000_000);
}

#[test]
fn a_late_job_catches_up() {
    let mut pace = pace(json!({"rate_iops": same(&json!(1000))})).unwrap();
    let late: Vec<u64> = (0..5)
        .map(|_| pace.due(&io(Kind::Read, 4096), 1_000_000_000).at_ns)
        .collect();
    assert_eq!(
        late,
        [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000],
        "all were due long ago"
    );
}

#[test]
fn a_day_does_not_drift() {
    let per_second = 333;
    let mut pace = pace(json!({"rate_iops": same(&json!(per_second))})).unwrap();
    let ios = per_second * 86_400;
    let last = (0..=ios)
        .map(|_| pace.due(&io(Kind::Read, 4096), 0).at_ns)
        .last();
    assert_eq!(last, Some(86_400 * NS_PER_SECOND));
}

proptest! {
    #[test]
    fn bytes_before_decide_when_an_io_is_due(per_second in 1u64..u64::MAX, lens in prop::collection::vec(1u32..=1 << 30, 1..200)) {
        let mut pace = pace(json!({"rate": same(&json!(per_second))})).unwrap();
        let mut before = 0u128;
        for len in lens {
            let exact = before * u128::from(NS_PER_SECOND) / u128::from(per_second.min(FASTEST));
            prop_assert_eq!(pace.due(&io(Kind::Read, len), 0).at_ns, u64::try_from(exact).unwrap_or(u64::MAX));
            before += u128::from(len);
        }
    }
}

/// Gaps in ns between `count` reads of a poisson process.
fn gaps(different: Value, clone: u32, lens: &[u32], count: usize) -> Vec<f64> {
    let mut different = different;
    different["rate_process"] = json!("poisson");
    let mut pace = Pace::new(&resolved(different), clone).expect("a limit");
    let mut last_ns = 0;
    lens.iter()
        .cycle()
        .take(count)
        .map(|len| {
            let at_ns = pace.due(&io(Kind::Read, *len), 0).at_ns;
            (at_ns - std::mem::replace(&mut last_ns, at_ns)) as f64
        })
        .collect()
}

#[test]
fn a_poisson_process_waits_exponentially_and_keeps_the_rate() {
    const COUNT: usize = 400_000;
    for per_second in [1u64, 1000, 200_000, 1_000_000] {
        let gaps = gaps(
            json!({"rate_iops": same(&json!(per_second))}),
            0,
            &[4096],
            COUNT,
        );
        let mean_ns = NS_PER_SECOND as f64 / per_second as f64;
        let mean = gaps.iter().sum::<f64>() / COUNT as f64;
        assert!(
            (mean / mean_ns - 1.0).abs() < 0.005,
            "{per_second} a second: {mean} ns apart on average"
        );
        let distance = ks_distance(gaps, |ns| 1.0 - (-ns / mean_ns).exp());
        // Whole ns cost a little where 1000 of them are a gap.
        assert!(
            distance < 2.0,
            "{per_second} a second: {distance} from an exponential law"
        );
    }
}

#[test]
fn a_poisson_process_counts_as_poisson_says() {
    // As many I/Os in a window as wanted, with a variance as large as the mean.
    let gaps = gaps(
        json!({"rate_iops": same(&json!(10_000))}),
        0,
        &[4096],
        500_000,
    );
    let mut counts = vec![0f64; 4_000];
    let mut now_ns = 0.0;
    for gap in gaps {
        now_ns += gap;
        if let Some(count) = counts.get_mut((now_ns / 1e7) as usize) {
            *count += 1.0;
        }
    }
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let variance = counts
        .iter()
        .map(|count| (count - mean).powi(2))
        .sum::<f64>()
        / counts.len() as f64;
    assert!(
        (mean - 100.0).abs() < 1.0 && (variance / mean - 1.0).abs() < 0.1,
        "mean {mean}, variance {variance}"
    );
}

#[test]
fn bytes_of_a_poisson_process_keep_their_rate_over_all_sizes() {
    let gaps = gaps(
        json!({"rate": same(&json!(1 << 30))}),
        0,
        &[4096, 65536],
        400_000,
    );
    let per_second = 200_000.0 * (4096.0 + 65536.0) / gaps.iter().sum::<f64>() * 1e9;
    assert!(
        (per_second / f64::from(1 << 30) - 1.0).abs() < 0.01,
        "{per_second} bytes a second"
    );
}

#[test]
fn a_poisson_process_is_the_same_every_time_and_another_for_each_clone() {
    let rate = || json!({"rate_iops": same(&json!(100))});
    assert_eq!(gaps(rate(), 0, &[4096], 100), gaps(rate(), 0, &[4096], 100));
    assert_ne!(gaps(rate(), 0, &[4096], 100), gaps(rate(), 1, &[4096], 100));
}

#[test]
fn the_intended_start_is_the_timetables_whatever_held_the_job_up() {
    let mut pace =
        pace(json!({"rw": "rw", "rate_iops": {"read": 10, "write": null, "trim": null}, "thinktime_us": 500_000})).unwrap();
    let mut due = |kind, now_ms: u64| {
        let due = pace.due(&io(kind, 4096), now_ms * 1_000_000);
        (
            due.at_ns / 1_000_000,
            due.intended_ns.map(|ns| ns / 1_000_000),
        )
    };
    assert_eq!(due(Kind::Read, 0), (0, Some(0)));
    assert_eq!(
        due(Kind::Read, 700),
        (1200, Some(100)),
        "the pause holds it up, and the timetable goes on"
    );
    assert_eq!(due(Kind::Write, 1200), (1700, None), "writes have no rate");
}
