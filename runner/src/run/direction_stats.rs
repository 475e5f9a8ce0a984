//! Computes report statistics from the workers' counters and histograms.

#[cfg(test)]
mod accuracy;
mod censored;

use crate::{
    load::{
        histogram::Histogram,
        measure::unfinished::UnfinishedIo,
        stats::{IoStats, WorkerStats},
    },
    run::direction_stats::censored::estimate_percentiles,
};
use leadline_protocol::{
    histogram::{BUCKETS, midpoint_of, sparse},
    plan::command_priorities::CommandPriority,
    report::{
        missing_time::Unfinished,
        stats::{DirectionStats, LatencyStats, PERCENTILES, PriorityStats, SyncStats},
    },
};

use std::collections::BTreeMap;

const NS_PER_SECOND: f64 = 1e9;

/// Statistics of multiple workers in one direction. `unfinished`: their I/Os in flight at the end.
/// `duration_ns`: length of their measured window.
pub(crate) fn direction_stats(
    workers: &[&IoStats],
    unfinished: &[UnfinishedIo],
    duration_ns: u64,
) -> DirectionStats {
    let ios: u64 = workers.iter().map(|stats| stats.ios.get()).sum();
    let bytes: u64 = workers.iter().map(|stats| stats.bytes.get()).sum();
    let per_second = |count: u64| match duration_ns {
        0 => 0.0,
        _ => count as f64 * NS_PER_SECOND / duration_ns as f64,
    };
    let slat = workers
        .iter()
        .flat_map(|stats| [&stats.inline_lat, &stats.slat]);
    let clat = workers.iter().map(|stats| &stats.clat);
    let lat = workers.iter().flat_map(|stats| stats.latencies());
    let intended = workers.iter().filter_map(|stats| stats.intended_lat.get());
    let has_rate = intended.clone().next().is_some();
    let inline_ios = workers.iter().map(|stats| stats.inline_lat.count()).sum();
    let ages = ages(unfinished);
    let since_accepted: Vec<u64> = unfinished.iter().map(|io| io.since_accepted_ns).collect();
    DirectionStats {
        ios,
        bytes,
        iops: per_second(ios),
        bytes_per_second: per_second(bytes),
        slat_ns: latency(slat, 0, &[]),
        clat_ns: latency(clat, inline_ios, &since_accepted),
        lat_ns: latency(lat, 0, &ages),
        intended_lat_ns: has_rate.then(|| latency(intended, 0, &ages)),
        unfinished: Some(count_unfinished(&ages)),
        priorities: priorities(workers),
    }
}

/// Latencies by priority, highest class and level first. Priorities without I/Os are omitted.
fn priorities(workers: &[&IoStats]) -> Vec<PriorityStats> {
    let mut by_priority: BTreeMap<CommandPriority, Vec<&Histogram>> = BTreeMap::new();
    let recorded = workers.iter().filter_map(|stats| stats.priorities.get());
    for found in recorded.flat_map(|found| found.iter()) {
        by_priority
            .entry(found.priority)
            .or_default()
            .push(&found.lat);
    }
    let stats = by_priority
        .into_iter()
        .map(|(priority, lat)| PriorityStats {
            priority,
            lat_ns: latency(lat.into_iter(), 0, &[]),
        });
    stats.filter(|stats| !stats.lat_ns.is_empty()).collect()
}

/// Statistics of multiple workers' fsync and fdatasync calls.
pub(crate) fn sync_stats(workers: &[&IoStats], unfinished: &[UnfinishedIo]) -> SyncStats {
    let ages = ages(unfinished);
    let lat = workers.iter().flat_map(|stats| stats.latencies());
    SyncStats {
        ios: workers.iter().map(|stats| stats.ios.get()).sum(),
        lat_ns: latency(lat, 0, &ages),
        unfinished: Some(count_unfinished(&ages)),
    }
}

fn ages(unfinished: &[UnfinishedIo]) -> Vec<u64> {
    unfinished.iter().map(|io| io.age_ns).collect()
}

fn count_unfinished(ages: &[u64]) -> Unfinished {
    Unfinished {
        ios: ages.len() as u64,
        oldest_ns: ages.iter().copied().max().unwrap_or(0),
    }
}

/// Merges histograms. `zeros`: number of additional latencies of 0 ns. `ages_ns`: ages of the
/// unfinished I/Os.
fn latency<'a>(
    histograms: impl Iterator<Item = &'a Histogram>,
    zeros: u64,
    ages_ns: &[u64],
) -> LatencyStats {
    let mut counts = [0; BUCKETS];
    counts[0] = zeros;
    // Sum as integers so that the order of the workers does not affect the result.
    let mut sum_ns = 0u128;
    let mut min = (zeros > 0).then_some(0);
    let mut max = None;
    for histogram in histograms {
        histogram.add_to(&mut counts);
        sum_ns += u128::from(histogram.sum_ns());
        min = min.into_iter().chain(histogram.min_ns()).min();
        max = max.max(Some(histogram.max_ns()));
    }
    let count: u64 = counts.iter().sum();
    let oldest = ages_ns.iter().copied().max();
    if count == 0 && oldest.is_none() {
        return LatencyStats::default();
    }
    let mut at_least = Vec::new();
    // Clamp, because the midpoint of a bucket can lie outside the exact minimum and maximum.
    let clamp = |ns: u64| ns.clamp(min.unwrap_or(0), max.max(oldest).unwrap_or(u64::MAX));
    let values = estimate_percentiles(&counts, max.unwrap_or(0), ages_ns, PERCENTILES);
    let names = PERCENTILES.iter().map(f64::to_string);
    let mut percentiles = BTreeMap::new();
    for (name, value) in names.zip(values) {
        if value.is_bound {
            at_least.push(name.clone());
        }
        percentiles.insert(name, clamp(value.ns));
    }
    if oldest > max {
        at_least.push("max".into());
    }
    let moments = (count > 0).then(|| moments(&counts, count, sum_ns));
    LatencyStats {
        min,
        max: max.max(oldest),
        mean: moments.map(|(mean, _)| mean),
        stddev: moments.map(|(_, stddev)| stddev),
        count,
        percentiles,
        buckets: sparse(&counts),
        at_least,
    }
}

/// Mean and standard deviation. `count` must not be 0.
fn moments(counts: &[u64; BUCKETS], count: u64, sum_ns: u128) -> (f64, f64) {
    let mean = sum_ns as f64 / count as f64;
    let mut squares = 0.0;
    for (bucket, n) in counts.iter().enumerate() {
        squares += *n as f64 * (midpoint_of(bucket) as f64 - mean).powi(2);
    }
    (mean, (squares / count as f64).sqrt())
}

/// Sum of all latencies, for the achieved depth (Little's law).
pub(crate) fn latency_sum_ns<'a>(workers: impl Iterator<Item = &'a WorkerStats>) -> u64 {
    let directions = workers.flat_map(|worker| &worker.directions);
    directions
        .flat_map(IoStats::latencies)
        .map(Histogram::sum_ns)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{
        pattern::io::Kind,
        stats::{IoTimes, NOT_ACCEPTED},
    };

    #[test]
    fn rates_and_moments() {
        let asynchronous = IoStats::default();
        let inline = IoStats::default();
        let accepted = IoTimes {
            start_ns: 0,
            accepted_ns: 40,
        };
        let not_accepted = IoTimes {
            start_ns: 0,
            accepted_ns: NOT_ACCEPTED,
        };
        asynchronous.record(accepted, 100, 3, 3 * 4096);
        inline.record(not_accepted, 300, 1, 4096);
        let stats = direction_stats(&[&asynchronous, &inline], &[], 500_000_000);
        assert_eq!((stats.ios, stats.bytes), (4, 16384));
        assert_eq!((stats.iops, stats.bytes_per_second), (8.0, 32768.0));
        let moments = |lat: &LatencyStats| (lat.min, lat.max, lat.mean, lat.count);
        assert_eq!(
            moments(&stats.lat_ns),
            (Some(100), Some(300), Some(150.0), 4)
        );
        assert_eq!(stats.lat_ns.percentiles["50"], 100);
        assert_eq!(stats.lat_ns.percentiles["99.9"], 300);
        assert_eq!(
            (stats.slat_ns.min, stats.slat_ns.max),
            (Some(40), Some(300))
        );
        // For inline completions, clat is 0.
        assert_eq!(moments(&stats.clat_ns), (Some(0), Some(60), Some(45.0), 4));
        assert!((stats.lat_ns.stddev.unwrap() - 86.6).abs() < 1.0);
    }

    #[test]
    fn latencies_are_null_if_there_are_no_ios() {
        let empty = IoStats::default();
        assert_eq!(
            direction_stats(&[&empty], &[], 1_000).lat_ns,
            LatencyStats::default()
        );
    }

    #[test]
    fn unfinished_ios_raise_the_maximum() {
        let stats = IoStats::default();
        let times = IoTimes {
            start_ns: 0,
            accepted_ns: 0,
        };
        stats.record(times, 100, 3, 3 * 4096);
        let unfinished = UnfinishedIo {
            kind: Kind::Read,
            age_ns: 5_000,
            since_accepted_ns: 4_000,
        };
        let stats = direction_stats(&[&stats], &[unfinished], 1_000);
        assert_eq!((stats.ios, stats.lat_ns.count), (3, 3));
        assert_eq!(
            (stats.lat_ns.mean, stats.lat_ns.max),
            (Some(100.0), Some(5_000))
        );
        assert_eq!(stats.clat_ns.max, Some(4_000));
        assert_eq!(stats.lat_ns.percentiles["50"], 100);
        assert_eq!(
            stats.lat_ns.at_least,
            [
                "80", "90", "95", "99", "99.5", "99.9", "99.95", "99.99", "99.999", "max"
            ]
        );
        let counted = Unfinished {
            ios: 1,
            oldest_ns: 5_000,
        };
        assert_eq!(stats.unfinished, Some(counted));
    }
}
