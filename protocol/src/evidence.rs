//! Evidence of where the I/O went: writeback, flush, request sizes and CPU profile.
//! `docs/measurement.md` defines every number.

pub mod level_change;
pub mod target;
pub mod transition;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Host writeback in the measured window, by all processes (`/proc/vmstat`).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Writeback {
    /// Bytes read from block devices (`pgpgin`).
    pub paged_in_bytes: u64,
    /// Bytes written to block devices (`pgpgout`).
    pub paged_out_bytes: u64,
    /// Bytes that became dirty (`nr_dirtied`).
    pub dirtied_bytes: u64,
    /// Bytes submitted for writing (`nr_written`).
    pub written_bytes: u64,
    /// How long this run's writers were throttled, summed over its threads (tracepoint
    /// writeback:balance_dirty_pages); null unless `request_sizes=1`.
    pub throttled_ms: Option<f64>,
}

/// Data in memory at the end of the measured window, and the time to write it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct FlushReport {
    /// Dirty bytes of the targets, including writeback (cachestat(2)); null if unknown.
    pub dirty_bytes: Option<u64>,
    /// Duration of the flush phase; null if `end_fsync` is not set.
    pub duration_ms: Option<f64>,
}

/// Requests issued to the devices in the measured window (tracepoint block:block_rq_issue).
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Requests {
    pub devices: Vec<DeviceRequests>,
    /// Trace events lost because a buffer was full. The distribution is still valid.
    pub lost_events: u64,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DeviceRequests {
    /// Kernel name.
    pub name: String,
    pub read: Vec<RequestSize>,
    pub write: Vec<RequestSize>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct RequestSize {
    /// Request size.
    pub bytes: u64,
    /// Number of requests.
    pub ios: u64,
}

/// CPU profile of the runner in the measured window, in user and kernel mode (`perf record`, event
/// cpu-clock).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Profile {
    /// Requested samples per second and thread.
    pub frequency_hz: u32,
    pub samples: u64,
    /// Folded stacks, one per line: `outer;...;inner count`.
    pub folded: String,
    /// Number of stacks omitted due to the size limit. The most frequent stacks are kept.
    pub omitted_stacks: u64,
}
