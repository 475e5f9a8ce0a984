//! Latency distributions. The buckets are those of the `histogram` crate with 64 to a power of two (H2, grouping power
//! 6) up to 2^40 ns = 18 minutes; the first 1,856 of them are fio's. A bucket is at most 1/64 of its value wide, so its
//! middle is at most 0.8 % away from any value in it (https://observablehq.com/@iopsystems/h2histogram).
//!
//! Here: the counters that one I/O thread writes and any other may read meanwhile, and percentiles of sparse buckets.

use leadline_protocol::histogram::BUCKETS;
use leadline_protocol::histogram::bucket_of;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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

#[cfg(test)]
mod tests {
    use leadline_protocol::histogram::{percentiles, sparse};
    use proptest::prelude::*;

    use super::*;

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
