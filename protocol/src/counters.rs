//! Counters for one sampling window, by layer.

use crate::{
    evidence::transition::Direction,
    histogram::{self, Buckets},
};
use serde::{Deserialize, Serialize};
use std::ops::Add;
use utoipa::ToSchema;

/// I/Os in one direction.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct IoCounts {
    /// Completed I/Os.
    pub ios: u64,
    pub bytes: u64,
    /// Histogram of total latencies in ns, as pairs of a bucket number and a count.
    #[schema(value_type = Vec<Vec<u64>>)]
    #[serde(deserialize_with = "histogram::deserialize")]
    pub lat_ns: Buckets,
}

/// Block device counters (`/sys/dev/block/M:m/stat`, Documentation/block/stat.rst).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DeviceCounts {
    /// Completed reads.
    pub read_ios: u64,
    pub read_bytes: u64,
    /// Reads merged into other reads.
    pub read_merges: u64,
    /// Sum of read latencies.
    pub read_ticks_ms: u64,
    /// Completed writes.
    pub write_ios: u64,
    pub write_bytes: u64,
    /// Writes merged into other writes.
    pub write_merges: u64,
    /// Sum of write latencies.
    pub write_ticks_ms: u64,
    /// Completed discards.
    pub discard_ios: u64,
    pub discard_bytes: u64,
    /// Completed cache flushes.
    pub flush_ios: u64,
    /// Requests in flight at the end of the window.
    pub in_flight: u64,
    /// Time with requests in flight.
    pub busy_ms: u64,
}

/// Host memory in bytes (`/proc/meminfo`).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Memory {
    /// Page cache pages of files.
    pub cached: u64,
    /// Page cache pages of block devices.
    pub buffers: u64,
    pub dirty: u64,
    /// Pages under writeback.
    pub writeback: u64,
    pub free: u64,
    /// Available without swapping.
    pub available: u64,
}

/// CPU time. `process_*` is a percentage of one CPU, `host_*` of all CPUs.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CpuUse {
    /// Runner, user mode.
    pub process_user: f64,
    /// Runner, kernel mode.
    pub process_system: f64,
    pub host_user: f64,
    /// Kernel mode, including interrupts.
    pub host_system: f64,
    /// Idle while I/O was in flight.
    pub host_iowait: f64,
    /// Stolen by the hypervisor.
    pub host_steal: f64,
}

/// Percentage of the window during which tasks waited for I/O (`/proc/pressure/io`).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Pressure {
    /// At least one task was waiting.
    pub io_some: f64,
    /// All non-idle tasks were waiting.
    pub io_full: f64,
}

/// Storage I/O of the runner process, excluding other processes (`/proc/self/io`,
/// proc_pid_io(5)).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct StorageIo {
    /// Bytes read from storage, including readahead.
    pub read_bytes: u64,
    /// Bytes written to storage or dirtied in the page cache.
    pub write_bytes: u64,
    /// Dirtied bytes that will never be written, because the file was truncated or removed.
    pub cancelled_write_bytes: u64,
}

/// I/O that the kernel charged to a control group (`io.stat`, cgroup v2).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ChargedIo {
    /// Submitted reads, after splitting and before merging.
    pub read_ios: u64,
    pub read_bytes: u64,
    /// Submitted writes, after splitting and before merging.
    pub write_ios: u64,
    pub write_bytes: u64,
}

/// Page cache residency of the target regions, in bytes and whole pages (cachestat(2), Linux 6.5).
/// If only mincore(2) is available, all fields except `cached` are null.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Residency {
    pub cached: u64,
    /// Cached and dirty.
    pub dirty: Option<u64>,
    /// Cached and under writeback.
    pub writeback: Option<u64>,
    /// Evicted from the cache. Counted as long as the kernel keeps a shadow entry.
    pub evicted: Option<u64>,
    /// Evicted so recently that a larger cache would have prevented it.
    pub recently_evicted: Option<u64>,
}

impl Residency {
    /// Adds the residency of another region. A field is `None` if it is `None` in either region.
    pub fn merge(self, other: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        Self {
            cached: self.cached + other.cached,
            dirty: sum(self.dirty, other.dirty),
            writeback: sum(self.writeback, other.writeback),
            evicted: sum(self.evicted, other.evicted),
            recently_evicted: sum(self.recently_evicted, other.recently_evicted),
        }
    }

    /// Bytes that have not reached the device yet; `None` if only mincore(2) is available.
    pub fn pending_write_bytes(self) -> Option<u64> {
        Some(self.dirty? + self.writeback?)
    }
}

/// Block device counters for one direction.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DeviceFlow {
    pub ios: u64,
    /// I/Os that were merged into other I/Os before they reached the device.
    pub merges: u64,
    pub bytes: u64,
}

impl DeviceFlow {
    fn new(ios: u64, merges: u64, bytes: u64) -> Self {
        Self { ios, merges, bytes }
    }
}

impl Add for DeviceFlow {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(
            self.ios.saturating_add(other.ios),
            self.merges.saturating_add(other.merges),
            self.bytes.saturating_add(other.bytes),
        )
    }
}

impl DeviceCounts {
    pub fn of(&self, direction: Direction) -> DeviceFlow {
        direction.select(
            DeviceFlow::new(self.read_ios, self.read_merges, self.read_bytes),
            DeviceFlow::new(self.write_ios, self.write_merges, self.write_bytes),
        )
    }

    pub fn discards(&self) -> DeviceFlow {
        DeviceFlow::new(self.discard_ios, 0, self.discard_bytes)
    }
}
