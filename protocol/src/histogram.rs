use histogram::{Config, Quantile, SparseHistogram};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Buckets of a latency histogram that are not empty: pairs of bucket number and count. Bucket numbers are those of
/// `histogram`: 64 buckets to a power of two, see `docs/measurement.md`.
pub type Buckets = Vec<(u32, u64)>;

/// 2^6 buckets to a power of two.
const GROUPING_POWER: u8 = 6;
/// Values below 2^40 ns (18.3 minutes) have their own bucket; longer ones are counted in the last.
const MAX_VALUE_POWER: u8 = 40;
/// Below this, every nanosecond has a bucket of its own.
const LINEAR_END: u64 = 1 << (GROUPING_POWER + 1);
/// The most that the middle of a bucket is away from a value in it, as a share of the value: half of 1/64, and what rounding adds.
pub const ERROR: f64 = 0.0079;
/// How many buckets there are.
pub const BUCKETS: usize = (MAX_VALUE_POWER - GROUPING_POWER + 1) as usize * (1 << GROUPING_POWER);

/// The bucket of a latency.
#[inline]
pub fn bucket_of(ns: u64) -> usize {
    if ns < LINEAR_END {
        return ns as usize;
    }
    let power = 63 - ns.leading_zeros();
    let shift = power - u32::from(GROUPING_POWER);
    // The top bit and the six below it number the bucket: (shift + 1) × 64 + the six bits.
    let bucket =
        ((shift as usize + 1) << GROUPING_POWER) + ((ns >> shift) as usize - (1 << GROUPING_POWER));
    bucket.min(BUCKETS - 1)
}

/// The middle of a bucket in ns, as fio prints it.
pub fn middle_of(bucket: usize) -> u64 {
    if (bucket as u64) < LINEAR_END {
        return bucket as u64;
    }
    let shift = (bucket >> GROUPING_POWER) - 1;
    let low = ((1 << GROUPING_POWER) + (bucket & ((1 << GROUPING_POWER) - 1)) as u64) << shift;
    low + (1 << shift) / 2
}

/// The buckets that hold something.
pub fn sparse(counts: &[u64; BUCKETS]) -> Buckets {
    counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(bucket, count)| (bucket as u32, *count))
        .collect()
}

/// Sums the counts of several histograms.
pub fn merge<'a>(histograms: impl IntoIterator<Item = &'a Buckets>) -> Buckets {
    let mut counts = BTreeMap::new();
    for (bucket, count) in histograms.into_iter().flatten() {
        *counts.entry(*bucket).or_insert(0) += count;
    }
    counts.into_iter().collect()
}

/// The middle of the bucket in which each percentile (0 to 100) falls, in ns; empty when nothing was counted.
pub fn percentiles(buckets: &Buckets, wanted: &[f64]) -> Vec<u64> {
    static CONFIG: OnceLock<Config> = OnceLock::new();
    let config = CONFIG.get_or_init(|| {
        Config::new(GROUPING_POWER, MAX_VALUE_POWER).expect("6 and 40 are a valid pair")
    });
    let (index, count): (Vec<u32>, Vec<u64>) = buckets.iter().copied().unzip();
    let Ok(histogram) = SparseHistogram::from_parts(*config, index, count) else {
        return Vec::new();
    };
    let quantiles: Vec<f64> = wanted.iter().map(|percentile| percentile / 100.0).collect();
    let Ok(Some(found)) = histogram.quantiles(&quantiles) else {
        return Vec::new();
    };
    let bucket = |quantile: &f64| found.get(&Quantile::new(*quantile).ok()?);
    quantiles
        .iter()
        .filter_map(bucket)
        .map(|bucket| middle_of(bucket_of(bucket.start())))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_those_of_the_histogram_crate() {
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

    proptest! {
        #[test]
        fn the_middle_of_a_bucket_is_within_eight_per_mille(value in 0u64..(1 << 40)) {
            let middle = middle_of(bucket_of(value));
            prop_assert!(middle.abs_diff(value) as f64 <= value as f64 * ERROR, "{value} → {middle}");
        }
    }
}
