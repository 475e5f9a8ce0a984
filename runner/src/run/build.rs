//! From counts to the numbers of a report. `docs/measurement.md` defines each of them.

#[cfg(test)]
pub(crate) mod distributions;

use crate::load::histogram::Histogram;
use crate::load::ledger::{Ledger, Tally};
use leadline_protocol::histogram::{BUCKETS, middle_of, percentiles, sparse};
use leadline_protocol::report::{DirectionStats, LatencyStats, PERCENTILES, SyncStats};
use std::collections::BTreeMap;

/// Nanoseconds of a second, for rates.
const SECOND_NS: f64 = 1e9;

/// One direction over several clones, whose window lasted `duration_ns`.
pub fn direction(tallies: &[&Tally], duration_ns: u64) -> DirectionStats {
    let ios: u64 = tallies.iter().map(|tally| tally.ios.get()).sum();
    let bytes: u64 = tallies.iter().map(|tally| tally.bytes.get()).sum();
    let per_second = |count: u64| {
        if duration_ns == 0 {
            0.0
        } else {
            count as f64 * SECOND_NS / duration_ns as f64
        }
    };
    let each = |pick: fn(&Tally) -> [&Histogram; 2]| {
        tallies
            .iter()
            .flat_map(|tally| pick(tally))
            .collect::<Vec<_>>()
    };
    let waited: Vec<&Histogram> = tallies.iter().map(|tally| &tally.clat).collect();
    let intended: Vec<&Histogram> = tallies
        .iter()
        .filter_map(|tally| tally.intended_lat.get())
        .collect();
    DirectionStats {
        ios,
        bytes,
        iops: per_second(ios),
        bytes_per_second: per_second(bytes),
        slat_ns: latency(&each(|tally| [&tally.at_once, &tally.slat]), 0),
        clat_ns: latency(
            &waited,
            tallies.iter().map(|tally| tally.at_once.count()).sum(),
        ),
        lat_ns: latency(&each(Tally::lats), 0),
        intended_lat_ns: (!intended.is_empty()).then(|| latency(&intended, 0)),
    }
}

/// fsync and fdatasync calls over several clones.
pub fn syncs(tallies: &[&Tally]) -> SyncStats {
    let ios = tallies.iter().map(|tally| tally.ios.get()).sum();
    SyncStats {
        ios,
        lat_ns: latency(
            &tallies
                .iter()
                .flat_map(|tally| tally.lats())
                .collect::<Vec<_>>(),
            0,
        ),
    }
}

/// Several distributions as one, with `zeros` more latencies of 0 ns.
fn latency(histograms: &[&Histogram], zeros: u64) -> LatencyStats {
    let mut counts = [0; BUCKETS];
    counts[0] = zeros;
    histograms
        .iter()
        .for_each(|histogram| histogram.add_to(&mut counts));
    let count: u64 = counts.iter().sum();
    if count == 0 {
        return LatencyStats::default();
    }
    // Added as whole numbers, so that the order of the clones changes nothing.
    let mean = histograms
        .iter()
        .map(|histogram| u128::from(histogram.sum_ns()))
        .sum::<u128>() as f64
        / count as f64;
    let squares =
        |(bucket, &n): (usize, &u64)| n as f64 * (middle_of(bucket) as f64 - mean).powi(2);
    let variance = counts.iter().enumerate().map(squares).sum::<f64>() / count as f64;
    let zero = (zeros > 0).then_some(0);
    let (min, max) = (
        histograms
            .iter()
            .filter_map(|h| h.min_ns())
            .chain(zero)
            .min(),
        histograms.iter().map(|h| h.max_ns()).max(),
    );
    let buckets = sparse(&counts);
    LatencyStats {
        min,
        max,
        mean: Some(mean),
        stddev: Some(variance.sqrt()),
        count,
        percentiles: named_percentiles(&buckets, min, max),
        buckets,
    }
}

/// The percentiles of the report by name. The middle of a bucket may lie outside of what was seen: the exact minimum
/// and maximum bound it.
fn named_percentiles(
    buckets: &leadline_protocol::histogram::Buckets,
    min: Option<u64>,
    max: Option<u64>,
) -> BTreeMap<String, u64> {
    let found = percentiles(buckets, PERCENTILES);
    let bounded = |ns: u64| ns.clamp(min.unwrap_or(0), max.unwrap_or(u64::MAX));
    PERCENTILES
        .iter()
        .zip(found)
        .map(|(percentile, ns)| (percentile.to_string(), bounded(ns)))
        .collect()
}

/// Sum of all latencies in ns: with Little's law it tells the achieved depth.
pub fn latency_sum_ns<'a>(ledgers: impl Iterator<Item = &'a Ledger>) -> u64 {
    let tallies = ledgers.flat_map(|ledger| &ledger.tallies);
    tallies.flat_map(Tally::lats).map(Histogram::sum_ns).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::ledger::{NOT_YET, Times};

    #[test]
    fn rates_and_moments_follow_from_the_counts() {
        let (a, b) = (Tally::default(), Tally::default());
        a.record(
            Times {
                start_ns: 0,
                taken_ns: 40,
            },
            100,
            3,
            3 * 4096,
        );
        b.record(
            Times {
                start_ns: 0,
                taken_ns: NOT_YET,
            },
            300,
            1,
            4096,
        );
        let dir = direction(&[&a, &b], 500_000_000);
        assert_eq!(
            (dir.ios, dir.bytes, dir.iops, dir.bytes_per_second),
            (4, 16384, 8.0, 32768.0)
        );
        assert_eq!(
            (
                dir.lat_ns.min,
                dir.lat_ns.max,
                dir.lat_ns.mean,
                dir.lat_ns.count
            ),
            (Some(100), Some(300), Some(150.0), 4)
        );
        assert_eq!(
            (dir.lat_ns.percentiles["50"], dir.lat_ns.percentiles["99.9"]),
            (100, 300)
        );
        assert_eq!((dir.slat_ns.min, dir.slat_ns.max), (Some(40), Some(300)));
        // Complete at once: the call that handed it over was all it took.
        assert_eq!(
            (
                dir.clat_ns.min,
                dir.clat_ns.max,
                dir.clat_ns.mean,
                dir.clat_ns.count
            ),
            (Some(0), Some(60), Some(45.0), 4)
        );
        assert!((dir.lat_ns.stddev.unwrap() - 86.6).abs() < 1.0);
    }

    #[test]
    fn nothing_counted_gives_null_not_zero() {
        let empty = Tally::default();
        assert_eq!(direction(&[&empty], 1_000).lat_ns, LatencyStats::default());
    }
}
