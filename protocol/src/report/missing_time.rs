//! Time in which nothing completed: stalls of the storage, and pauses of the runner.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A run may fail if a worker was stalled for more than this share of the measured window.
pub const MAX_STALLED_SHARE: f64 = 0.1;
/// It fails if the stalls are longer in total, or if they last until the end. Shorter ones occur on
/// busy but healthy disks.
pub const MAX_STALLED_MS: f64 = 5_000.0;

/// I/Os that had not completed at the end of the measured window.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Unfinished {
    pub ios: u64,
    /// Time since the submission of the oldest one; 0 without I/Os.
    pub oldest_ns: u64,
}

/// Stalls of the worker of a job that was stalled longest. A stall is a time with I/Os in flight in
/// which none of the worker's I/Os completed, longer than `threshold_ms`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Stalls {
    /// 1 s, or 10 times the median latency of the job if that is longer.
    pub threshold_ms: f64,
    /// Number of stalls.
    pub count: u64,
    pub total_ms: f64,
    pub longest_ms: f64,
    /// Share of the measured window, from 0 to 1.
    pub share: f64,
    /// Number of stalled workers.
    pub workers: u32,
    /// The longest stalls in order of time; at most 100.
    pub spans: Vec<TimeSpan>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TimeSpan {
    /// Milliseconds since the start of the run.
    pub start_ms: f64,
    pub duration_ms: f64,
}

/// A time in which the runner itself did not run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Pause {
    /// Milliseconds since the start of the run.
    pub start_ms: f64,
    pub duration_ms: f64,
    pub cause: PauseCause,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseCause {
    /// The host was suspended.
    Suspended,
    /// The runner was stopped (SIGSTOP), frozen, or got no CPU time.
    NotScheduled,
}
