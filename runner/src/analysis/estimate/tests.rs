//! Tests of confidence intervals and their sums.

use crate::analysis::estimate::*;
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};
use std::ops::RangeInclusive;

const LAYER: StorageLayer = StorageLayer::Device;

/// `found` of `samples` lookups found their data on the device, and all others found it in the page
/// cache. Each lookup represents `weight` I/Os of 4 KiB.
fn counts(found: u64, samples: u64, weight: u64) -> LayerCounts {
    let mut counts = LayerCounts {
        samples,
        spread: (samples * weight * (weight - 1)) as f64,
        ..LayerCounts::default()
    };
    for (layer, lookups) in [(LAYER, found), (StorageLayer::PageCache, samples - found)] {
        counts.ios[layer as usize] = (lookups * weight) as f64;
        counts.bytes[layer as usize] = (lookups * weight * 4096) as f64;
    }
    counts
}

fn device(estimate: &LayerEstimate) -> Share {
    estimate.of(LAYER).unwrap().ios
}

fn estimated_share(found: u64, samples: u64, weight: u64) -> Share {
    device(&counts(found, samples, weight).estimate())
}

/// An estimate whose device share has these bounds.
fn with_bounds(low: f64, share: f64, high: f64) -> LayerEstimate {
    let mut estimate = counts(1, 1, 1).estimate();
    for layer in &mut estimate.layers {
        if layer.layer == LAYER {
            layer.ios = Share { share, low, high };
            layer.bytes = share;
        }
    }
    estimate
}

fn assert_near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-3,
        "found {found}, expected {expected}"
    );
}

#[test]
fn shares_are_exact_if_every_io_was_looked_up() {
    for found in [0, 1, 30, 99, 100] {
        let estimate = counts(found, 100, 1).estimate();
        let share = found as f64 / 100.0;
        assert_eq!(device(&estimate), Share::exact(share));
        assert_eq!(estimate.of(LAYER).unwrap().bytes, share);
        assert_eq!(estimate.samples, 100);
    }
}

/// Bounds from the closed form of the Wilson interval for shares of 0, 0.5 and 1.
#[test]
fn intervals_match_known_values() {
    // With large weights, the effective number of samples is the actual number, 100.
    let z2: f64 = 3.2905 * 3.2905;
    let half = estimated_share(50, 100, 1_000_000);
    let width = 0.5 * (z2 / (100.0 + z2)).sqrt();
    assert_near(half.share, 0.5);
    assert_near(half.low, 0.5 - width);
    assert_near(half.high, 0.5 + width);
    let none = estimated_share(0, 100, 1_000_000);
    assert_eq!((none.share, none.low), (0.0, 0.0));
    assert_near(none.high, z2 / (100.0 + z2));
    let all = estimated_share(100, 100, 1_000_000);
    assert_eq!((all.share, all.high), (1.0, 1.0));
    assert_near(all.low, 100.0 / (100.0 + z2));
}

#[test]
fn more_lookups_narrow_the_interval() {
    let width = |samples: u64, weight: u64| {
        let share = estimated_share(samples / 4, samples, weight);
        assert!(share.low <= share.share && share.share <= share.high);
        share.high - share.low
    };
    assert!(width(400, 100) < width(100, 100));
    assert_near(width(40_000, 100) / width(10_000, 100), 0.5);
    assert!(
        width(100, 2) < width(100, 100),
        "half of the I/Os were looked up"
    );
}

#[test]
fn one_heavy_lookup_widens_the_interval() {
    let mut counts = counts(50, 100, 100);
    let even = device(&counts.estimate());
    // The total is the same, but one lookup represents a third of the I/Os.
    counts.spread = 99.0 * 67.0 * 66.0 + 3367.0 * 3366.0;
    let uneven = device(&counts.estimate());
    assert!(uneven.high - uneven.low > 2.0 * (even.high - even.low));
}

/// Fraction of repeated samples whose interval contains the true share.
fn coverage(truth: f64, samples: u64, weight: u64, seed: u64) -> f64 {
    const RUNS: u32 = 4000;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let contains = |rng: &mut Xoshiro256PlusPlus| {
        let found = (0..samples).filter(|_| rng.random_bool(truth)).count() as u64;
        let share = estimated_share(found, samples, weight);
        (share.low..=share.high).contains(&truth)
    };
    let hits = (0..RUNS).filter(|_| contains(&mut rng)).count();
    hits as f64 / f64::from(RUNS)
}

#[test]
fn intervals_contain_the_true_share() {
    for (truth, samples) in [(0.5, 40), (0.5, 400), (0.1, 100), (0.9, 100), (0.01, 400)] {
        let found = coverage(truth, samples, 1000, 7);
        assert!(found >= 0.995, "{truth} of {samples}: {found}");
    }
}

#[test]
fn layers_are_unknown_without_lookups() {
    let estimate = LayerCounts::default().estimate();
    assert_eq!(estimate.samples, 0);
    let unknown = estimate.of(StorageLayer::Unknown).unwrap();
    assert_eq!((unknown.ios.share, unknown.bytes), (1.0, 1.0));
    for layer in &estimate.layers {
        assert_eq!((layer.ios.low, layer.ios.high), (0.0, 1.0));
    }
}

#[test]
fn overwritten_writes_have_an_interval() {
    let writes = LayerCounts {
        overwritten: Some(25.0),
        ..counts(100, 100, 1)
    };
    assert_eq!(writes.estimate().overwritten, Some(Share::exact(0.25)));
    assert_eq!(counts(100, 100, 1).estimate().overwritten, None);
}

#[test]
fn workers_are_weighted_by_their_ios() {
    let merge = |first: u64, second: u64| {
        let parts = [
            (first, counts(10, 10, 1).estimate()),
            (second, counts(0, 10, 1).estimate()),
        ];
        merged(parts.into_iter().map(part)).unwrap()
    };
    let estimate = merge(3000, 1000);
    assert_eq!(device(&estimate), Share::exact(0.75));
    assert_eq!(estimate.of(LAYER).unwrap().bytes, 0.75);
    assert_eq!(estimate.samples, 20);
    assert_eq!(device(&merge(1000, 3000)), Share::exact(0.25));
    let total: f64 = estimate.layers.iter().map(|layer| layer.ios.share).sum();
    assert_near(total, 1.0);
}

#[test]
fn merging_zero_or_one_worker_changes_nothing() {
    let one = counts(30, 100, 50).estimate();
    let merged_one = merged([(5000, one.clone())].into_iter().map(part)).unwrap();
    let (found, expected) = (device(&merged_one), device(&one));
    assert_near(found.low, expected.low);
    assert_near(found.share, expected.share);
    assert_near(found.high, expected.high);
    assert_eq!(merged(std::iter::empty()), None);
}

#[test]
fn worker_errors_are_independent() {
    let one = || (1000, with_bounds(0.4, 0.5, 0.6));
    let of = |workers: usize| {
        let parts: Vec<_> = (0..workers).map(|_| one()).collect();
        device(&merged(parts.into_iter().map(part)).unwrap())
    };
    assert_near(of(1).high - of(1).low, 0.2);
    assert_near(of(4).high - of(4).low, 0.1);
    let with_exact = merged(
        [one(), (1000, with_bounds(0.5, 0.5, 0.5))]
            .into_iter()
            .map(part),
    )
    .unwrap();
    let share = device(&with_exact);
    assert_near(share.high - share.low, 0.1);
}

#[test]
fn bounds_of_a_sum_stay_between_0_and_1() {
    let parts = [
        (9000, with_bounds(0.9, 1.0, 1.0)),
        (1000, with_bounds(0.0, 0.0, 1.0)),
    ];
    let share = device(&merged(parts.into_iter().map(part)).unwrap());
    let range: RangeInclusive<f64> = 0.0..=1.0;
    assert!(range.contains(&share.low) && range.contains(&share.high));
    assert!(share.low <= share.share && share.share <= share.high);
}

#[test]
fn ios_of_an_unknown_worker_are_unknown() {
    let parts = [(3000, counts(10, 10, 1).estimate()), (1000, unknown())];
    let estimate = merged(parts.into_iter().map(part)).unwrap();
    let share = device(&estimate);
    assert_near(share.share, 0.75);
    assert!(share.high >= 1.0, "all of the data may be on the device");
    let unknown = estimate.of(StorageLayer::Unknown).unwrap();
    assert_near(unknown.ios.share, 0.25);
}

/// A part whose I/Os are 4 KiB each.
fn part((ios, estimate): (u64, LayerEstimate)) -> PartEstimate {
    PartEstimate {
        ios,
        bytes: ios * 4096,
        estimate,
    }
}

#[test]
fn byte_shares_are_weighted_by_size() {
    // 1 MiB reads from the page cache, and 512-byte reads from the device.
    let layer = |of: StorageLayer| {
        let mut counts = LayerCounts {
            samples: 100,
            ..LayerCounts::default()
        };
        counts.ios[of as usize] = 100.0;
        counts.bytes[of as usize] = 100.0;
        counts.estimate()
    };
    let parts = [
        PartEstimate {
            ios: 1000,
            bytes: 1000 << 20,
            estimate: layer(StorageLayer::PageCache),
        },
        PartEstimate {
            ios: 1000,
            bytes: 1000 * 512,
            estimate: layer(StorageLayer::Device),
        },
    ];
    let found = merged(parts.into_iter()).unwrap();
    let device = found.of(StorageLayer::Device).unwrap();
    assert_eq!(device.ios.share, 0.5);
    assert!(device.bytes < 0.001, "{}", device.bytes);
}

#[test]
fn a_sum_of_parts_is_at_most_1() {
    for workers in 1..200 {
        let parts = (0..workers).map(|number| PartEstimate {
            ios: 1000 + 37 * number,
            bytes: 4096,
            estimate: counts(1, 1, 1).estimate(),
        });
        let found = device(&merged(parts).unwrap());
        assert!(
            found.low <= found.share && found.share <= found.high,
            "{workers}"
        );
        assert!(found.high <= 1.0, "{workers}: {}", found.high);
    }
}
