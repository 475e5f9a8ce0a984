//! Limits that end a run (`rate_min`, `rate_iops_min` and `max_latency`).

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A limit of a job that one of its workers violated.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ViolatedLimit {
    /// `rate_min`, `rate_iops_min` or `max_latency`.
    pub option: String,
    /// `read`, `write` or `trim`.
    pub direction: String,
    /// Bytes per second, I/Os per second, or microseconds.
    pub limit: u64,
    /// The measured value, in the unit of `limit`.
    pub value: u64,
    /// The violation in one sentence.
    pub summary: String,
}
