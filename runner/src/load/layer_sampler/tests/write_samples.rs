//! Tests the write samples that are kept until the end of the measurement.

use crate::load::layer_sampler::tests::*;

/// Pushes writes of this weight with increasing offsets.
fn kept_samples(
    count: u64,
    weight: impl Fn(u64) -> u64,
    target: impl Fn(u64) -> u16,
) -> Vec<WriteSample> {
    let mut writes = WriteSamples::new(1, true);
    for offset in 0..count {
        writes.push(WriteSample {
            io: Io {
                offset,
                len: 4096,
                target: target(offset),
                kind: Kind::Write,
            },
            weight: weight(offset),
            syncs_before: 0,
            was_dirty: false,
        });
    }
    writes.into_samples()
}

fn total_weight(samples: &[WriteSample], is_counted: impl Fn(&Io) -> bool) -> f64 {
    let counted = samples.iter().filter(|sample| is_counted(&sample.io));
    counted.map(|sample| sample.weight as f64).sum()
}

#[test]
fn samples_keep_the_total_weight() {
    for count in [1, 100, 2048, 2049, 4096, 5000, 100_000, 1_000_003] {
        let samples = kept_samples(count, |_| 3, |_| 0);
        assert!(samples.len() <= 2048, "{count}: {} kept", samples.len());
        assert!(samples.len() as u64 >= count.min(1024), "{count}");
        let total = total_weight(&samples, |_| true);
        let error = (total / (3 * count) as f64 - 1.0).abs();
        assert!(error <= 1.0 / 1024.0, "{count}: {error}");
    }
    let few = kept_samples(2048, |offset| offset + 1, |_| 0);
    assert_eq!(total_weight(&few, |_| true), 2048.0 * 2049.0 / 2.0);
}

#[test]
fn kept_writes_span_the_whole_run() {
    // The weights grow, as they do when writes become faster.
    let weight = |offset: u64| if offset < 50_000 { 1 } else { 10 };
    let samples = kept_samples(100_000, weight, |_| 0);
    for (range, expected) in [(0..25_000, 25_000.0), (50_000..75_000, 250_000.0)] {
        let found = total_weight(&samples, |io| range.contains(&io.offset));
        assert!((found / expected - 1.0).abs() < 0.01, "{range:?}: {found}");
    }
}

/// Slow writes that alternate between two files are all looked up.
#[test]
fn alternating_writes_are_kept_in_equal_numbers() {
    let samples = kept_samples(10_000, |_| 1, |offset| (offset % 2) as u16);
    let first = total_weight(&samples, |io| io.target == 0);
    assert!((4000.0..6000.0).contains(&first), "{first} of 10,000");
}
