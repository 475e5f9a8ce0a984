//! Latency histograms that use the buckets of the `histogram` crate; see `docs/measurement.md`.

use serde::{Deserialize, Deserializer, de::Error};
use std::collections::BTreeMap;

/// Non-empty buckets, as pairs of a bucket number and a count in ascending order.
pub type Buckets = Vec<(u32, u64)>;

/// 2^6 buckets per power of two.
const GROUPING_POWER: u8 = 6;
/// Values of 2^40 ns (18.3 minutes) or more are counted in the last bucket.
const MAX_VALUE_POWER: u8 = 40;
/// Below this value, there is one bucket per nanosecond.
const LINEAR_END: u64 = 1 << (GROUPING_POWER + 1);
/// Maximum relative difference between a value and the midpoint of its bucket: half of 1/64, plus
/// rounding.
pub const ERROR: f64 = 0.0079;
pub const BUCKETS: usize = (MAX_VALUE_POWER - GROUPING_POWER + 1) as usize * (1 << GROUPING_POWER);

/// Returns the bucket number for a latency.
#[inline]
pub fn bucket_of(ns: u64) -> usize {
    if ns < LINEAR_END {
        return ns as usize;
    }
    let power = 63 - ns.leading_zeros();
    let shift = power - u32::from(GROUPING_POWER);
    // The bucket number is (shift + 1) × 64 + the six bits below the top bit.
    let bucket =
        ((shift as usize + 1) << GROUPING_POWER) + ((ns >> shift) as usize - (1 << GROUPING_POWER));
    bucket.min(BUCKETS - 1)
}

/// Returns the midpoint of a bucket in ns, as fio does.
pub fn midpoint_of(bucket: usize) -> u64 {
    if (bucket as u64) < LINEAR_END {
        return bucket as u64;
    }
    let shift = (bucket >> GROUPING_POWER) - 1;
    let low = ((1 << GROUPING_POWER) + (bucket & ((1 << GROUPING_POWER) - 1)) as u64) << shift;
    low + (1 << shift) / 2
}

/// Returns the non-empty buckets.
pub fn sparse(counts: &[u64; BUCKETS]) -> Buckets {
    counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(bucket, count)| (bucket as u32, *count))
        .collect()
}

/// Whether all buckets exist and are in ascending order.
pub fn is_valid(buckets: &Buckets) -> bool {
    let ascend = buckets.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let last = buckets.last().map_or(0, |(bucket, _)| *bucket as usize);
    ascend && last < BUCKETS
}

/// For `deserialize_with`.
///
/// # Errors
/// A bucket does not exist, or the buckets are not in ascending order.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Buckets, D::Error> {
    let buckets = Buckets::deserialize(deserializer)?;
    if is_valid(&buckets) {
        Ok(buckets)
    } else {
        Err(D::Error::custom("not a histogram"))
    }
}

/// Sums the counts of multiple histograms.
pub fn merge<'a>(histograms: impl IntoIterator<Item = &'a Buckets>) -> Buckets {
    let mut counts = BTreeMap::new();
    for (bucket, count) in histograms.into_iter().flatten() {
        let sum: &mut u64 = counts.entry(*bucket).or_default();
        *sum = sum.saturating_add(*count);
    }
    counts.into_iter().collect()
}

/// Returns the bucket midpoint of each percentile (0-100, ascending) in ns; empty if there are no
/// samples.
pub fn percentiles(buckets: &Buckets, percentiles: &[f64]) -> Vec<u64> {
    let counts = buckets.iter().map(|(_, count)| *count);
    let total = counts.fold(0, u64::saturating_add);
    if total == 0 {
        return Vec::new();
    }
    let mut cumulative = buckets.iter().scan(0_u64, |sum, (bucket, count)| {
        *sum = sum.saturating_add(*count);
        Some((*bucket, *sum))
    });
    let Some(mut current) = cumulative.next() else {
        return Vec::new();
    };
    percentiles
        .iter()
        .map(|percentile| {
            let rank = rank(*percentile, total);
            while current.1 < rank {
                current = cumulative.next().expect("a rank is at most the total");
            }
            midpoint_of(current.0 as usize)
        })
        .collect()
}

/// Nearest rank, from 1 to `total`: the lowest rank that covers the percentile. The percentile is
/// rounded to 1/10,000 first, because in floating point 99.9 % of 1,000 exceeds 999.
fn rank(percentile: f64, total: u64) -> u64 {
    const PRECISION: f64 = 1e4;
    let numerator = (percentile * PRECISION).round() as u128 * u128::from(total);
    let rank = numerator.div_ceil(100 * PRECISION as u128) as u64;
    rank.clamp(1, total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use histogram::Config;
    use proptest::prelude::*;

    #[test]
    fn buckets_match_the_histogram_crate() {
        let config = Config::new(GROUPING_POWER, MAX_VALUE_POWER).unwrap();
        assert_eq!(config.total_buckets(), BUCKETS);
        let values = (0..40)
            .flat_map(|power| [0, 1, 3].map(|extra| (1u64 << power) + extra * (1 << power) / 7))
            .filter(|&v| v < 1 << 40);
        for value in values.chain(0..2000) {
            let mut one = histogram::Histogram::with_config(&config);
            one.increment(value).unwrap();
            assert_eq!(one.as_slice()[bucket_of(value)], 1, "{value}");
        }
    }

    #[test]
    fn merge_adds_the_counts_of_equal_buckets() {
        let read = vec![(5, 90), (7, 1)];
        let write = vec![(7, 8), (100, 1)];
        let merged = merge([&read, &write]);
        assert_eq!(merged, [(5, 90), (7, 9), (100, 1)]);
        assert_eq!(percentiles(&merged, &[50.0, 99.0]), [5, 7]);
    }

    #[test]
    fn huge_counts_do_not_overflow() {
        let most = vec![(5, u64::MAX), (7, u64::MAX)];
        assert_eq!(merge([&most, &most]), most);
        assert_eq!(percentiles(&most, &[50.0, 100.0]), [5, 5]);
        assert_eq!(percentiles(&vec![(5, 0)], &[50.0]), [0; 0]);
    }

    #[test]
    fn buckets_are_in_range_and_ascending() {
        let last = BUCKETS as u32 - 1;
        for (buckets, expected) in [
            (vec![], true),
            (vec![(0, 1), (last, 0)], true),
            (vec![(last + 1, 1)], false),
            (vec![(5, 1), (5, 1)], false),
            (vec![(5, 1), (4, 1)], false),
        ] {
            assert_eq!(is_valid(&buckets), expected, "{buckets:?}");
        }
    }

    /// In units of 1/10,000 percent, so that the exact rank is an integer computation.
    const PERCENTILES: [u64; 9] = [
        10_000, 500_000, 750_000, 900_000, 950_000, 990_000, 999_000, 999_900, 1_000_000,
    ];

    #[test]
    fn ranks_match_an_exact_sort() {
        let percents = PERCENTILES.map(|percentile| percentile as f64 / 1e4);
        for n in 1..=20_000 {
            for (exact, percent) in PERCENTILES.iter().zip(percents) {
                let rank = rank(percent, n);
                let covers = |rank: u64| rank * 1_000_000 >= exact * n;
                assert!(
                    covers(rank) && !covers(rank - 1),
                    "p{percent} of {n}: {rank}"
                );
            }
        }
        assert_eq!(rank(99.9, 1_000), 999);
        assert_eq!(rank(99.99, 10_000), 9_999);
    }

    proptest! {
        #[test]
        fn bucket_midpoints_are_within_the_error_bound(value in 0u64..(1 << 40)) {
            let midpoint = midpoint_of(bucket_of(value));
            let distance = midpoint.abs_diff(value) as f64;
            prop_assert!(distance <= value as f64 * ERROR, "{value} → {midpoint}");
        }
    }
}
