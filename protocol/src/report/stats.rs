//! Counts and latencies for the measured window.

use crate::{
    histogram::{self, Buckets},
    plan::command_priorities::CommandPriority,
    report::missing_time::Unfinished,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Percentiles in [`LatencyStats`]. Others can be derived from the buckets.
pub const PERCENTILES: &[f64] = &[
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99, 99.999,
];

/// I/Os in one direction.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DirectionStats {
    /// Completed I/Os.
    pub ios: u64,
    pub bytes: u64,
    pub iops: f64,
    pub bytes_per_second: f64,
    /// Submission latency: from just before submission until the kernel accepted the I/O.
    pub slat_ns: LatencyStats,
    /// Completion latency: from acceptance until the completion was reaped.
    pub clat_ns: LatencyStats,
    /// Total latency: from just before submission until the completion was reaped.
    pub lat_ns: LatencyStats,
    /// Latency from the intended start under `rate` or `rate_iops`; null if no rate is set.
    pub intended_lat_ns: Option<LatencyStats>,
    /// I/Os in flight at the end; null for runs recorded before they were counted.
    #[serde(default)]
    pub unfinished: Option<Unfinished>,
    /// Latencies by priority, with `cmdprio_percentage` or `cmdprio_bssplit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<PriorityStats>,
}

/// I/Os with the same priority.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct PriorityStats {
    #[serde(flatten)]
    pub priority: CommandPriority,
    /// Total latency of completed I/Os.
    pub lat_ns: LatencyStats,
}

/// fsync and fdatasync calls.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SyncStats {
    /// Completed calls.
    pub ios: u64,
    pub lat_ns: LatencyStats,
    /// Calls in flight at the end; null for runs recorded before they were counted.
    #[serde(default)]
    pub unfinished: Option<Unfinished>,
}

/// Maximum accepted relative error of a rate or mean. Reports store these numbers with all digits,
/// so a larger error is a contradiction.
const MAX_RATE_ERROR: f64 = 0.001;

/// Latencies in ns; null if there are no samples. `max` and `percentiles` include I/Os that were in
/// flight at the end; all other numbers cover completed I/Os only.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LatencyStats {
    /// Exact.
    pub min: Option<u64>,
    /// Exact or a lower bound.
    pub max: Option<u64>,
    /// Exact.
    pub mean: Option<f64>,
    /// Derived from the buckets (error up to 0.8 %).
    pub stddev: Option<f64>,
    /// Number of samples.
    pub count: u64,
    /// Latency in ns by percentile, such as `"99.9": 120832`, derived from the buckets (error up to
    /// 0.8 %).
    pub percentiles: BTreeMap<String, u64>,
    /// Histogram, as pairs of a bucket number and a count.
    #[schema(value_type = Vec<Vec<u64>>)]
    #[serde(deserialize_with = "histogram::deserialize")]
    pub buckets: Buckets,
    /// Names of values that are lower bounds, `max` or percentiles such as `"99.9"`. Their exact
    /// values depend on I/Os that were in flight at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_least: Vec<String>,
}

impl DirectionStats {
    /// Describes a rate or mean that contradicts the other numbers for a window of this length;
    /// `None` if there is none.
    pub(super) fn contradiction(&self, duration_ms: f64) -> Option<String> {
        let rates = [
            ("iops", self.iops, self.ios, "I/Os"),
            (
                "bytes_per_second",
                self.bytes_per_second,
                self.bytes,
                "bytes",
            ),
        ];
        let contradiction = rates.into_iter().find_map(|(name, rate, count, unit)| {
            let expected = 1000.0 * count as f64 / duration_ms;
            let is_close = (rate - expected).abs() <= MAX_RATE_ERROR * expected;
            (!is_close).then(|| {
                format!("{name} is {rate}, but {count} {unit} in {duration_ms} ms are {expected:.1} per second")
            })
        });
        let named = [
            ("slat_ns", &self.slat_ns),
            ("clat_ns", &self.clat_ns),
            ("lat_ns", &self.lat_ns),
        ];
        contradiction.or_else(|| {
            named.into_iter().find_map(|(name, latency)| {
                let (min, mean) = (latency.min? as f64, latency.mean?);
                let is_bounded = mean >= min * (1.0 - MAX_RATE_ERROR)
                    && latency
                        .max
                        .is_none_or(|max| mean <= max as f64 * (1.0 + MAX_RATE_ERROR));
                (!is_bounded)
                    .then(|| format!("{name}.mean is {mean}, which is not between min and max"))
            })
        })
    }

    /// The name of a negative rate or mean, which is impossible; `None` if there is none.
    pub fn impossible_number(&self) -> Option<&'static str> {
        let is_negative = |number: f64| number < 0.0;
        let is_mean_negative = |stats: &LatencyStats| {
            [stats.mean, stats.stddev]
                .into_iter()
                .flatten()
                .any(is_negative)
        };
        let latencies = [&self.slat_ns, &self.clat_ns, &self.lat_ns];
        let mut latencies = latencies.into_iter().chain(&self.intended_lat_ns);
        if is_negative(self.iops) {
            Some("iops")
        } else if is_negative(self.bytes_per_second) {
            Some("bytes_per_second")
        } else {
            latencies.any(is_mean_negative).then_some("a mean latency")
        }
    }

    /// Whether an I/O completed or was in flight at the end.
    pub fn is_used(&self) -> bool {
        self.ios > 0 || self.unfinished.is_some_and(|unfinished| unfinished.ios > 0)
    }
}

impl LatencyStats {
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.max.is_none()
    }

    /// `name` is `max` or a percentile such as `99.9`.
    pub fn is_lower_bound(&self, name: &str) -> bool {
        self.at_least.iter().any(|bound| bound == name)
    }
}
