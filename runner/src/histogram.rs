//! Latency distributions. The buckets are those of the `histogram` crate with 64 to a power of two (H2, grouping power
//! 6) up to 2^40 ns = 18 minutes; the first 1,856 of them are fio's. A bucket is at most 1/64 of its value wide, so its
//! middle is at most 0.8 % away from any value in it (https://observablehq.com/@iopsystems/h2histogram).
//!
//! Here: the counters that one I/O thread writes and any other may read meanwhile, and percentiles of sparse buckets.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use histogram::{Config, Quantile, SparseHistogram};

use crate::event::Buckets;

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

/// A count that one thread adds to and others read: no locked instruction is needed, and a reader may be a moment late.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds. Only the thread that owns the counter may.
    #[inline]
    pub fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    /// Replaces the value. Only the thread that owns the counter may.
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    /// The value as of a moment ago.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A distribution that one thread writes and others may read meanwhile.
#[derive(Debug)]
pub struct Histogram {
    buckets: Box<[Counter]>,
    sum_ns: Counter,
    /// The shortest, inverted, so that 0 means none.
    inverted_min: Counter,
    max_ns: Counter,
}

impl Default for Histogram {
    fn default() -> Self {
        let buckets = (0..BUCKETS).map(|_| Counter::default()).collect();
        Self {
            buckets,
            sum_ns: Counter::default(),
            inverted_min: Counter::default(),
            max_ns: Counter::default(),
        }
    }
}

impl Histogram {
    /// Counts `n` I/Os of this latency.
    #[inline]
    pub fn record(&self, ns: u64, n: u64) {
        self.buckets[bucket_of(ns)].add(n);
        self.sum_ns.add(ns * n);
        if ns > self.max_ns.get() {
            self.max_ns.set(ns);
        }
        if !ns > self.inverted_min.get() {
            self.inverted_min.set(!ns);
        }
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(Counter::get).sum()
    }

    /// Sum of all latencies in ns.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns.get()
    }

    /// The longest in ns; 0 when there was none.
    pub fn max_ns(&self) -> u64 {
        self.max_ns.get()
    }

    /// The shortest in ns; `None` when there was none.
    pub fn min_ns(&self) -> Option<u64> {
        Some(self.inverted_min.get())
            .filter(|&inverted| inverted != 0)
            .map(|inverted| !inverted)
    }

    /// Adds the counts to `into`, bucket by bucket.
    pub fn add_to(&self, into: &mut [u64; BUCKETS]) {
        for (sum, bucket) in into.iter_mut().zip(&self.buckets) {
            *sum += bucket.get();
        }
    }
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

    #[test]
    fn longer_than_eighteen_minutes_is_still_counted_and_the_maximum_is_exact() {
        let histogram = Histogram::default();
        histogram.record(3 << 40, 2);
        let mut counts = [0; BUCKETS];
        histogram.add_to(&mut counts);
        assert_eq!(counts[BUCKETS - 1], 2);
        assert_eq!(
            (histogram.max_ns(), histogram.min_ns()),
            (3 << 40, Some(3 << 40))
        );
    }

    proptest! {
        #[test]
        fn the_middle_of_a_bucket_is_within_eight_per_mille(value in 0u64..(1 << 40)) {
            let middle = middle_of(bucket_of(value));
            prop_assert!(middle.abs_diff(value) as f64 <= value as f64 * ERROR, "{value} → {middle}");
        }

        #[test]
        fn percentiles_are_those_of_an_exact_sort(mut values in prop::collection::vec(1u64..100_000_000_000, 1..500)) {
            let histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value, 1));
            let mut counts = [0; BUCKETS];
            histogram.add_to(&mut counts);
            values.sort_unstable();
            let wanted = [1.0, 50.0, 90.0, 99.0, 99.9];
            for (percentile, found) in wanted.iter().zip(percentiles(&sparse(&counts), &wanted)) {
                // Nearest rank: the smallest value that at least so many percent do not exceed.
                let rank = ((percentile / 100.0 * values.len() as f64).ceil() as usize).max(1) - 1;
                let exact = values[rank] as f64;
                prop_assert!((found as f64 - exact).abs() <= exact * 0.008 + 1.0, "p{percentile}: {found} against {exact}");
            }
            prop_assert_eq!(histogram.max_ns(), *values.last().unwrap());
            prop_assert_eq!(histogram.min_ns(), values.first().copied());
        }
    }
}
