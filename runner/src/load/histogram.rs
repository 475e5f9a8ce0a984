//! Latency distributions with the same buckets as the `histogram` crate: H2 with grouping power 6,
//! so 64 buckets per power of two up to 2^40 ns (18 minutes). The first 1,856 buckets are the same
//! as in fio. A bucket's width is at most 1/64 of its value, so its midpoint is within 0.8 % of
//! every value in it (<https://observablehq.com/@iopsystems/h2histogram>).
//!
//! One I/O thread updates the counters while other threads read them.

use leadline_protocol::histogram::{BUCKETS, bucket_of};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A counter with a single writer thread and concurrent readers. It needs no locked instructions;
/// readers may see a slightly stale value.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Must be called only by the owning thread.
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    /// Must be called only by the owning thread.
    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A distribution with a single writer thread and concurrent readers.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: Box<[Counter]>,
    sum_ns: Counter,
    /// Bitwise complement of the minimum, so that 0 means no value.
    inverted_min: Counter,
    max_ns: Counter,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: (0..BUCKETS).map(|_| Counter::default()).collect(),
            sum_ns: Counter::default(),
            inverted_min: Counter::default(),
            max_ns: Counter::default(),
        }
    }
}

impl Histogram {
    /// Counts `n` I/Os with this latency.
    #[inline]
    pub(crate) fn record(&self, ns: u64, n: u64) {
        self.buckets[bucket_of(ns)].add(n);
        self.sum_ns.add(ns * n);
        if ns > self.max_ns.get() {
            self.max_ns.set(ns);
        }
        if !ns > self.inverted_min.get() {
            self.inverted_min.set(!ns);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().map(Counter::get).sum()
    }

    pub(crate) fn sum_ns(&self) -> u64 {
        self.sum_ns.get()
    }

    /// The largest value; 0 if there are no values.
    pub(crate) fn max_ns(&self) -> u64 {
        self.max_ns.get()
    }

    pub(crate) fn min_ns(&self) -> Option<u64> {
        let inverted = self.inverted_min.get();
        (inverted != 0).then_some(!inverted)
    }

    /// Adds the counts to `into`, bucket by bucket.
    pub(crate) fn add_to(&self, into: &mut [u64; BUCKETS]) {
        for (sum, bucket) in into.iter_mut().zip(&self.buckets) {
            *sum += bucket.get();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::histogram::{percentiles, sparse};
    use proptest::prelude::*;

    fn counts(histogram: &Histogram) -> [u64; BUCKETS] {
        let mut counts = [0; BUCKETS];
        histogram.add_to(&mut counts);
        counts
    }

    #[test]
    fn out_of_range_values_are_counted_in_the_last_bucket_with_an_exact_maximum() {
        let histogram = Histogram::default();
        histogram.record(3 << 40, 2);
        assert_eq!(counts(&histogram)[BUCKETS - 1], 2);
        assert_eq!(histogram.max_ns(), 3 << 40);
        assert_eq!(histogram.min_ns(), Some(3 << 40));
    }

    proptest! {
        #[test]
        fn percentiles_match_an_exact_sort(
            mut values in prop::collection::vec(1u64..100_000_000_000, 1..500),
        ) {
            let histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value, 1));
            values.sort_unstable();
            let wanted = [1.0, 50.0, 90.0, 99.0, 99.9];
            let found = percentiles(&sparse(&counts(&histogram)), &wanted);
            for (percentile, found) in wanted.iter().zip(found) {
                // Nearest rank: the smallest value such that at least this share of the values does
                // not exceed it.
                let percent_10_000 = (percentile * 1e4_f64).round() as usize;
                let rank = (percent_10_000 * values.len()).div_ceil(1_000_000);
                let exact = values[rank.max(1) - 1] as f64;
                let error = (found as f64 - exact).abs();
                prop_assert!(error <= exact * 0.008 + 1.0, "p{percentile}: {found}, exact {exact}");
            }
            prop_assert_eq!(histogram.max_ns(), *values.last().unwrap());
            prop_assert_eq!(histogram.min_ns(), values.first().copied());
        }
    }
}
