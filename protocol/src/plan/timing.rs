//! Start, end, pauses and rates of a resolved job.

use crate::job::{
    direction::PerDirection,
    keyword::{ExitWhat, RateProcess},
    steady_state::SteadyState,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Start, end, pauses and rate of the I/Os.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TimingOptions {
    /// Null if the measurement is limited by size.
    pub runtime_ms: Option<u64>,
    pub time_based: bool,
    pub ramp_ms: u64,
    pub startdelay_ms: u64,
    pub loops: u64,
    /// Maximum number of I/Os per worker and pass; null if unlimited.
    pub number_ios: Option<u64>,
    /// Bytes per worker, including loops.
    pub io_size: u64,
    /// Whether the job sets `io_size`; otherwise, each worker transfers its own region. Not
    /// serialized.
    #[serde(default, skip_serializing)]
    #[schema(ignore)]
    pub is_io_size_requested: bool,
    /// Maximum bytes per second for each worker; null if unlimited.
    pub rate: PerDirection<Option<u64>>,
    /// Maximum I/Os per second for each worker; null if unlimited.
    pub rate_iops: PerDirection<Option<u64>>,
    pub rate_process: RateProcess,
    /// Minimum rates of each worker; null if `rate_min` and `rate_iops_min` are not set.
    #[serde(default)]
    pub min_rate: Option<MinRate>,
    /// Latency in µs above which an I/O ends the run; null if `max_latency` is not set.
    #[serde(default)]
    pub max_latency_us: Option<PerDirection<Option<u64>>>,
    /// Errors that the job tolerates; null if the first failed I/O ends the run.
    #[serde(default)]
    pub tolerated_errors: Option<ToleratedErrors>,
    /// Whether other jobs end as soon as a worker of this job ends.
    #[serde(default)]
    #[schema(required = true)]
    pub exitall: bool,
    /// Jobs that `exitall` ends.
    #[serde(default)]
    #[schema(required = true)]
    pub exit_what: ExitWhat,
    /// Number of the job's group for `exit_what`; 0 if no job of the run has `exitall`.
    #[serde(default)]
    #[schema(required = true)]
    pub exit_group: u32,
    /// Search for the highest queue depth within a latency limit; null if `latency_target` is not
    /// set.
    #[serde(default)]
    pub latency_target: Option<LatencyTargetOptions>,
    /// Share of the I/Os; null if `flow` is not set.
    #[serde(default)]
    pub flow: Option<FlowOptions>,
    /// Pause after every `thinktime_blocks` I/Os, in µs.
    pub thinktime_us: u64,
    /// Null if only `thinktime_iotime_us` determines when a pause begins.
    pub thinktime_blocks: Option<u32>,
    /// Part of each pause that the worker spends busy-waiting, in µs.
    #[serde(default)]
    #[schema(required = true)]
    pub thinktime_spin_us: u64,
    /// Time between two pauses, in µs; 0 if only the number of I/Os determines when a pause begins.
    #[serde(default)]
    #[schema(required = true)]
    pub thinktime_iotime_us: u64,
    /// When the job ends early; null if `steadystate_duration` is not set, and for runs recorded
    /// before the option was introduced.
    #[serde(default)]
    pub steady_state: Option<SteadyStateOptions>,
    /// When the job ends as overloaded; null if `overload_time` is not set, and for runs recorded
    /// before the option was introduced.
    #[serde(default)]
    pub overload: Option<OverloadOptions>,
}

/// When a job with `rate_iops` ends as overloaded.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct OverloadOptions {
    /// Limit for the number of due but incomplete I/Os of all workers.
    pub backlog: u64,
    /// Time for which the number must exceed the limit and grow.
    pub duration_ms: u64,
}

/// Error numbers (errno(3)) after which a job continues.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ToleratedErrors {
    pub read: Vec<i32>,
    /// Writes, trims and syncs.
    pub write: Vec<i32>,
}

/// Minimum rates of each worker.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct MinRate {
    /// Bytes per second; null if there is no minimum.
    pub bytes: PerDirection<Option<u64>>,
    /// I/Os per second; null if there is no minimum.
    pub ios: PerDirection<Option<u64>>,
    /// Length of each checked period.
    pub cycle_ms: u32,
}

/// Steady-state detection.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SteadyStateOptions {
    #[serde(flatten)]
    pub test: SteadyState,
    /// Length of the window in seconds, at least 2.
    pub duration_s: u32,
    /// Seconds at the start of the measurement that are ignored, rounded up.
    pub ramp_s: u32,
    /// Length of the intervals in the window, in seconds; at most half of the window.
    #[serde(default = "one_second")]
    #[schema(required = true)]
    pub interval_s: u32,
}

/// The interval in runs recorded before it was configurable.
fn one_second() -> u32 {
    1
}

/// A worker's share of the I/Os of all workers with the same `id`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct FlowOptions {
    pub id: u32,
    /// At least 1.
    pub weight: u32,
    /// Pause of a worker that exceeds its share, in µs; 0 to check again immediately.
    pub sleep_us: u32,
}

/// Search for the highest queue depth within a latency limit.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LatencyTargetOptions {
    /// Limit in µs.
    pub target_us: u64,
    /// Length of a test in µs.
    pub window_us: u64,
    /// Percentage of the I/Os that must be within the limit.
    pub percentile: f64,
    /// Whether the job continues after the search.
    pub continues: bool,
}
