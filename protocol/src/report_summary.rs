//! Key figures of a report in lists.

use crate::histogram;
use crate::report::Report;
use crate::verdict::{VerdictClass, Verdicts};

/// Totals of all directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportSummary {
    pub iops: Option<f64>,
    pub bytes_per_second: Option<f64>,
    pub lat_p50_ns: Option<u64>,
    pub lat_p99_ns: Option<u64>,
    pub lat_max_ns: Option<u64>,
    /// Verdict of the direction with the most bytes.
    pub verdict: Option<VerdictClass>,
}

impl ReportSummary {
    pub fn new(report: &Report, verdicts: &Verdicts) -> Self {
        let directions = [&report.read, &report.write, &report.trim];
        let latencies = histogram::merge(directions.map(|stats| &stats.lat_ns.buckets));
        let percentiles = histogram::percentiles(&latencies, &[50.0, 99.0]);
        let read = verdicts.read.as_ref();
        let write = verdicts.write.as_ref();
        let main = if report.read.bytes >= report.write.bytes {
            read.or(write)
        } else {
            write
        };
        Self {
            iops: Some(directions.iter().map(|stats| stats.iops).sum()),
            bytes_per_second: Some(directions.iter().map(|stats| stats.bytes_per_second).sum()),
            lat_p50_ns: percentiles.first().copied(),
            lat_p99_ns: percentiles.get(1).copied(),
            lat_max_ns: directions.iter().filter_map(|stats| stats.lat_ns.max).max(),
            verdict: main.map(|verdict| verdict.class),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::stats::DirectionStats;

    fn direction(bytes: u64, buckets: &[(u32, u64)]) -> DirectionStats {
        let ios = buckets.iter().map(|bucket| bucket.1).sum();
        let mut stats = DirectionStats {
            ios,
            bytes,
            iops: ios as f64,
            bytes_per_second: bytes as f64,
            ..DirectionStats::default()
        };
        stats.lat_ns.buckets = buckets.to_vec();
        stats.lat_ns.max = buckets.last().map(|bucket| u64::from(bucket.0));
        stats
    }

    #[test]
    fn merges_the_buckets_of_all_directions() {
        let read = direction(10, &[(5, 90), (7, 1)]);
        let write = direction(20, &[(7, 8), (100, 1)]);
        let merged = merged_buckets(&[&read, &write]);
        assert_eq!(merged, [(5, 90), (7, 9), (100, 1)]);
        assert_eq!(histogram::percentiles(&merged, &[50.0, 99.0]), [5, 7]);
    }
}
