//! Periods without completions: storage stalls and runner pauses.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A run can only fail if a worker was stalled for more than this share of the measured window.
pub const MAX_STALLED_SHARE: f64 = 0.1;
/// If the stalls exceed that share, the run fails if they also exceed this total or last until the
/// end. Shorter stalls occur on busy but healthy disks.
pub const MAX_STALLED_MS: f64 = 5_000.0;

/// I/Os that had not completed at the end of the measured window.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Unfinished {
    pub ios: u64,
    /// Time since the oldest of them was submitted; 0 if there are none.
    pub oldest_ns: u64,
}

/// Stalls of the worker that was stalled longest in this job. A stall is a period longer than
/// `threshold_ms` in which the worker had I/Os in flight and none completed.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Stalls {
    /// 1 s, or 10 times the job's median latency if that is longer.
    pub threshold_ms: f64,
    /// Number of stalls.
    pub count: u64,
    pub total_ms: f64,
    pub longest_ms: f64,
    /// Share of the measured window, from 0 to 1.
    pub share: f64,
    /// Number of stalled workers.
    pub workers: u32,
    /// The longest stalls, in chronological order; at most 100.
    pub spans: Vec<TimeSpan>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TimeSpan {
    /// Milliseconds since the start of the run.
    pub start_ms: f64,
    pub duration_ms: f64,
}

/// A period during which the runner itself was not running.
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
    /// The runner was stopped (SIGSTOP), frozen, or did not get CPU time.
    NotScheduled,
}
