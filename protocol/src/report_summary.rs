//! Key figures of a report, for lists.

use crate::{
    histogram::{self, Buckets, bucket_of},
    report::{Report, stats::DirectionStats},
    verdict::{VerdictClass, Verdicts},
};

/// Totals across all directions.
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
        let [lat_p50_ns, lat_p99_ns] = percentiles(directions);
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
            lat_p50_ns,
            lat_p99_ns,
            lat_max_ns: directions.iter().filter_map(|stats| stats.lat_ns.max).max(),
            verdict: main.map(|verdict| verdict.class),
        }
    }
}

/// Median and 99th percentile of the latencies in all directions.
fn percentiles(directions: [&DirectionStats; 3]) -> [Option<u64>; 2] {
    let used = directions.map(|stats| stats.is_used().then_some(stats));
    if let [Some(only), None, None] | [None, Some(only), None] | [None, None, Some(only)] = used {
        return ["50", "99"].map(|name| only.lat_ns.percentiles.get(name).copied());
    }
    let latencies = directions.map(latencies);
    let percentiles = histogram::percentiles(&histogram::merge(&latencies), &[50.0, 99.0]);
    [0, 1].map(|index| percentiles.get(index).copied())
}

/// Latencies of the completed I/Os and, after a hang, of the unfinished I/Os. Every unfinished I/O
/// is counted with the age of the oldest one.
fn latencies(stats: &DirectionStats) -> Buckets {
    let unfinished = stats
        .unfinished
        .filter(|_| stats.lat_ns.is_lower_bound("max"));
    let unfinished = unfinished.map(|unfinished| {
        let bucket = bucket_of(unfinished.oldest_ns) as u32;
        vec![(bucket, unfinished.ios)]
    });
    histogram::merge([&stats.lat_ns.buckets, &unfinished.unwrap_or_default()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{missing_time::Unfinished, stats::LatencyStats};

    /// Statistics with `completed` I/Os of 10 ns and `unfinished` I/Os that are 100 ns old.
    fn stats(completed: u64, unfinished: u64) -> DirectionStats {
        let is_hung = unfinished > 0;
        DirectionStats {
            ios: completed,
            lat_ns: LatencyStats {
                count: completed,
                max: Some(if is_hung { 100 } else { 10 }),
                percentiles: [("50".into(), 10), ("99".into(), 11)].into(),
                buckets: vec![(10, completed)],
                at_least: is_hung.then(|| "max".into()).into_iter().collect(),
                ..LatencyStats::default()
            },
            unfinished: Some(Unfinished {
                ios: unfinished,
                oldest_ns: 100,
            }),
            ..DirectionStats::default()
        }
    }

    #[test]
    fn percentiles_include_unfinished_ios() {
        let none = DirectionStats::default;
        let check = |directions: [DirectionStats; 3], expected: [Option<u64>; 2]| {
            assert_eq!(percentiles(directions.each_ref()), expected);
        };
        check([none(), none(), none()], [None, None]);
        check([none(), stats(10, 0), none()], [Some(10), Some(11)]);
        check([stats(0, 1), none(), none()], [Some(10), Some(11)]);
        check([stats(90, 0), stats(10, 0), none()], [Some(10), Some(10)]);
        check([stats(90, 5), stats(10, 0), none()], [Some(10), Some(100)]);
    }
}
