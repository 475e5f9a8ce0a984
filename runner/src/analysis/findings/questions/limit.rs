//! Published limits for a measured value.

use crate::analysis::findings::questions::workload::Workload;
use leadline_protocol::{
    format::{latency, rate},
    report::{Report, stats::DirectionStats},
};

/// A measured value that can have a limit.
#[derive(Clone, Copy)]
pub(crate) enum Metric {
    ReadIops,
    WriteIops,
    /// In bytes per second.
    ReadRate,
    /// In bytes per second.
    WriteRate,
    /// In ns.
    ReadMean,
    /// In ns.
    WriteMean,
    /// In ns.
    FlushP99,
}

pub(crate) struct Limit {
    pub metric: Metric,
    pub value: f64,
    /// Source of the limit; completes "the limit that ...".
    pub by: &'static str,
    /// Title of the document, and of its section.
    pub source: &'static str,
    pub applies_to: fn(&Workload) -> bool,
}

impl Metric {
    /// `None` if it was not measured.
    pub(crate) fn value(self, report: &Report) -> Option<f64> {
        let mean = |stats: &DirectionStats| stats.lat_ns.mean;
        match self {
            Self::ReadIops => Some(report.read.iops),
            Self::WriteIops => Some(report.write.iops),
            Self::ReadRate => Some(report.read.bytes_per_second),
            Self::WriteRate => Some(report.write.bytes_per_second),
            Self::ReadMean => mean(&report.read),
            Self::WriteMean => mean(&report.write),
            Self::FlushP99 => {
                let p99 = report.sync.lat_ns.percentiles.get("99");
                p99.map(|ns| *ns as f64)
            }
        }
    }

    fn is_latency(self) -> bool {
        matches!(self, Self::ReadMean | Self::WriteMean | Self::FlushP99)
    }

    /// The subject and verb of the sentence that compares the value with the limit.
    fn subject(self, workload: &Workload) -> &'static str {
        let is_mixed = workload.is_mixed();
        match self {
            Self::ReadIops if is_mixed => "The read IOPS are",
            Self::WriteIops if is_mixed => "The write IOPS are",
            // This sentence follows the comparison of the flushes' p99.
            Self::WriteIops if workload.flush.is_some() && !workload.random => "The commit rate is",
            Self::ReadMean if workload.in_flight > 1 => "The mean read latency is",
            Self::WriteMean if workload.in_flight > 1 => "The mean write latency is",
            _ => "That is",
        }
    }

    fn text(self, value: f64) -> String {
        match self {
            Self::ReadIops | Self::WriteIops => rate(value),
            Self::ReadRate | Self::WriteRate => format!("{} MB/s", rate(value / 1e6)),
            Self::ReadMean | Self::WriteMean | Self::FlushP99 => latency(value),
        }
    }
}

impl Limit {
    /// Flush percentiles need enough flushes, not a long run: etcd's fio test writes only 22 MB.
    pub(crate) fn applies_to_short_runs(&self) -> bool {
        matches!(self.metric, Metric::FlushP99)
    }

    /// Latencies must be below the limit, and rates must be at least the limit.
    pub(crate) fn is_met(&self, value: f64) -> bool {
        self.metric.is_latency() == (value < self.value)
    }

    /// Returns a sentence that compares the value with the limit.
    pub(crate) fn comparison(&self, workload: &Workload, value: f64) -> String {
        let relation = match (self.metric.is_latency(), value < self.value) {
            (true, false) => "not below",
            (_, true) => "below",
            (false, false) => "at least",
        };
        let subject = self.metric.subject(workload);
        let limit = self.metric.text(self.value);
        format!("{subject} {relation} the {limit} that {}.", self.by)
    }
}
