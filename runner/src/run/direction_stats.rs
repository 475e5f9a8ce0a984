//! Statistics of a report from the counters and histograms of workers.

#[cfg(test)]
mod accuracy;

use crate::load::{
    histogram::Histogram,
    stats::{IoStats, WorkerStats},
};
use leadline_protocol::{
    histogram::{BUCKETS, midpoint_of, percentiles, sparse},
    report::stats::{DirectionStats, LatencyStats, PERCENTILES, SyncStats},
};

const SECOND_NS: f64 = 1e9;

/// One direction of several workers. `duration_ns`: length of their measured window.
pub(crate) fn direction_stats(workers: &[&IoStats], duration_ns: u64) -> DirectionStats {
    let ios: u64 = workers.iter().map(|stats| stats.ios.get()).sum();
    let bytes: u64 = workers.iter().map(|stats| stats.bytes.get()).sum();
    let per_second = |count: u64| match duration_ns {
        0 => 0.0,
        _ => count as f64 * SECOND_NS / duration_ns as f64,
    };
    let slat = workers
        .iter()
        .flat_map(|stats| [&stats.inline_lat, &stats.slat]);
    let clat = workers.iter().map(|stats| &stats.clat);
    let lat = workers.iter().flat_map(|stats| stats.latencies());
    let intended = workers.iter().filter_map(|stats| stats.intended_lat.get());
    let has_rate = intended.clone().next().is_some();
    let inline_ios = workers.iter().map(|stats| stats.inline_lat.count()).sum();
    DirectionStats {
        ios,
        bytes,
        iops: per_second(ios),
        bytes_per_second: per_second(bytes),
        slat_ns: latency(slat, 0),
        clat_ns: latency(clat, inline_ios),
        lat_ns: latency(lat, 0),
        intended_lat_ns: has_rate.then(|| latency(intended, 0)),
        unfinished: None,
    }
}

/// fsync and fdatasync calls of several workers.
pub(crate) fn sync_stats(workers: &[&IoStats]) -> SyncStats {
    SyncStats {
        ios: workers.iter().map(|stats| stats.ios.get()).sum(),
        lat_ns: latency(workers.iter().flat_map(|stats| stats.latencies()), 0),
        unfinished: None,
    }
}

/// Merges histograms. `zeros`: number of additional latencies of 0 ns.
fn latency<'a>(histograms: impl Iterator<Item = &'a Histogram>, zeros: u64) -> LatencyStats {
    let mut counts = [0; BUCKETS];
    counts[0] = zeros;
    // Sum as an integer, so that the order of the workers does not affect the result.
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
    if count == 0 {
        return LatencyStats::default();
    }
    let mean = sum_ns as f64 / count as f64;
    let mut squares = 0.0;
    for (bucket, n) in counts.iter().enumerate() {
        squares += *n as f64 * (midpoint_of(bucket) as f64 - mean).powi(2);
    }
    let buckets = sparse(&counts);
    // The midpoint of a bucket can be outside of the exact range.
    let clamp = |ns: u64| ns.clamp(min.unwrap_or(0), max.unwrap_or(u64::MAX));
    let values = percentiles(&buckets, PERCENTILES).into_iter().map(clamp);
    let names = PERCENTILES.iter().map(f64::to_string);
    LatencyStats {
        min,
        max,
        mean: Some(mean),
        stddev: Some((squares / count as f64).sqrt()),
        count,
        percentiles: names.zip(values).collect(),
        buckets,
        at_least: Vec::new(),
    }
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
    use crate::load::stats::{IoTimes, NOT_ACCEPTED};

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
        let stats = direction_stats(&[&asynchronous, &inline], 500_000_000);
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
        // clat of inline completions is 0.
        assert_eq!(moments(&stats.clat_ns), (Some(0), Some(60), Some(45.0), 4));
        assert!((stats.lat_ns.stddev.unwrap() - 86.6).abs() < 1.0);
    }

    #[test]
    fn latencies_are_null_without_ios() {
        let empty = IoStats::default();
        assert_eq!(
            direction_stats(&[&empty], 1_000).lat_ns,
            LatencyStats::default()
        );
    }
}
