//! Key figures of a report in lists.

use crate::{
    histogram,
    report::Report,
    verdict::{VerdictClass, Verdicts},
};

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
