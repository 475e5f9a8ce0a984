use crate::histogram::Buckets;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What one direction did in a window.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct IoCounts {
    /// I/Os completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Latencies (`lat`, from just before submission until reaped, in ns) of these I/Os.
    #[schema(value_type = Vec<Vec<u64>>)]
    pub lat_ns: Buckets,
}

/// What the kernel counted for block devices (`/sys/dev/block/M:m/stat`, Documentation/block/stat.rst) in a window.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DeviceCounts {
    /// Reads completed.
    pub read_ios: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Reads merged into another before they reached the device.
    pub read_merges: u64,
    /// Milliseconds that reads waited, summed over the reads.
    pub read_ticks_ms: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Writes merged into another.
    pub write_merges: u64,
    /// Milliseconds that writes waited, summed over the writes.
    pub write_ticks_ms: u64,
    /// Discards completed.
    pub discard_ios: u64,
    /// Bytes discarded.
    pub discard_bytes: u64,
    /// Cache flushes completed.
    pub flush_ios: u64,
    /// Requests in flight at the end of the window.
    pub in_flight: u64,
    /// Milliseconds in which the device had something to do.
    pub busy_ms: u64,
}

/// The host's memory at one moment, in bytes (`/proc/meminfo`).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Memory {
    /// Page cache of files.
    pub cached: u64,
    /// Page cache of block devices.
    pub buffers: u64,
    /// Pages that wait to be written.
    pub dirty: u64,
    /// Pages being written.
    pub writeback: u64,
    /// Memory that nobody uses.
    pub free: u64,
    /// Memory that could be had without swapping.
    pub available: u64,
}

/// Processor time in a window. One processor fully used for the window is 100 %.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CpuUse {
    /// The runner, in user mode, in percent of one processor.
    pub process_user: f64,
    /// The runner, in the kernel, in percent of one processor.
    pub process_system: f64,
    /// All processors of the host, in user mode, in percent of all of them.
    pub host_user: f64,
    /// All processors of the host, in the kernel (interrupts included), in percent of all of them.
    pub host_system: f64,
    /// All processors of the host, idle while I/O was in flight, in percent of all of them.
    pub host_iowait: f64,
    /// All processors of the host, taken by the hypervisor, in percent of all of them.
    pub host_steal: f64,
}

/// Share of the window in which tasks waited for I/O, in percent (`/proc/pressure/io`).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Pressure {
    /// At least one task waited.
    pub io_some: f64,
    /// All tasks that had something to do waited.
    pub io_full: f64,
}

/// What this process, all its threads together, moved from and to storage in a window (`/proc/self/io`, proc_pid_io(5)). It
/// separates the traffic of the run from everybody else's.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct StorageIo {
    /// Bytes that it had the kernel fetch from storage, readahead included.
    pub read_bytes: u64,
    /// Bytes that it wrote to storage, or dirtied in the page cache for it to be written later.
    pub write_bytes: u64,
    /// Of those dirtied, bytes that will never be written since the file was cut or removed.
    pub cancelled_write_bytes: u64,
}

/// How much of the targets' regions lies in the page cache at one moment, in bytes, whole pages (cachestat(2), Linux 6.5). Where
/// only mincore(2) can be asked, all but `cached` is null.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Residency {
    /// In the page cache.
    pub cached: u64,
    /// Of those, not written to the device yet.
    pub dirty: Option<u64>,
    /// Of those, being written.
    pub writeback: Option<u64>,
    /// Once cached and driven out, as far as the kernel remembers.
    pub evicted: Option<u64>,
    /// Of those, driven out so lately that more memory would have kept them.
    pub recently_evicted: Option<u64>,
}

impl Residency {
    /// Two regions together; what is not known of one is not known of both.
    pub fn and(self, other: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        Self {
            cached: self.cached + other.cached,
            dirty: sum(self.dirty, other.dirty),
            writeback: sum(self.writeback, other.writeback),
            evicted: sum(self.evicted, other.evicted),
            recently_evicted: sum(self.recently_evicted, other.recently_evicted),
        }
    }
}
