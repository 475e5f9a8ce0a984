//! Everything that leaves the process: one event a line. The stream is the spine of Leadline: the server journals it,
//! the browser folds it, a recorded stream is a test fixture. `docs/protocol.md` shows one line of each kind.
//!
//! Times are milliseconds since the run began on the host; counts of a sample are what happened inside its window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::host::HostFacts;
use crate::plan::ResolvedJob;
use crate::problem::Problem;
use crate::report::{Finding, Report, Verdicts};

/// One event with its place in the list.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Event {
    /// Number in the list of its run, from 0, without gaps. The journal numbers anew what the runner numbered.
    pub seq: u64,
    /// Milliseconds since the run began on the host; 0 before it did.
    pub t_ms: f64,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// The server moved the run to another status. Never written by the runner.
    Status(StatusChange),
    /// The runner took the job: what will be done, and on what host.
    Accepted(Box<Accepted>),
    /// A phase began, went on or ended.
    Phase(PhaseChange),
    /// One window of counts at every layer.
    Sample(Box<Sample>),
    /// The one result; the last event of a run that measured something.
    Report(Box<RunResult>),
    /// The run ended without a result.
    Failed(Failure),
}

/// Where a run stands. `queued → preparing → measuring → finishing → done | failed | cancelled | interrupted`.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Waits for its turn.
    Queued,
    /// Guard, layout, caches, ramp.
    Preparing,
    /// The measured window.
    Measuring,
    /// Flush, clean up, report.
    Finishing,
    /// Has its report.
    Done,
    /// Ended by an error.
    Failed,
    /// Ended by its owner.
    Cancelled,
    /// Ended because the server or the host went away.
    Interrupted,
}

impl RunStatus {
    /// Whether nothing can come after it.
    pub fn is_final(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Failed | Self::Cancelled | Self::Interrupted
        )
    }

    /// The word that stands in JSON and in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Preparing => "preparing",
            Self::Measuring => "measuring",
            Self::Finishing => "finishing",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A run's move to another status.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct StatusChange {
    /// Where it stands now.
    pub status: RunStatus,
    /// When, in milliseconds since 1970 UTC.
    pub at_ms: u64,
    /// Why, where there is something to say: the error of a failed run, who cancelled.
    pub reason: Option<String>,
}

/// What will be done, on what host.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Accepted {
    /// When the run began, in milliseconds since 1970 UTC.
    pub at_ms: u64,
    /// The jobs as resolved.
    pub jobs: Vec<ResolvedJob>,
    /// The host as found.
    pub host: HostFacts,
    /// The sampling grid in milliseconds.
    pub sample_ms: u32,
    /// How long the measured window will last in milliseconds; null when size, not time, ends it.
    pub measure_ms: Option<u64>,
    /// Kernel names of the block devices under the targets, such as `vda`; empty where there is none.
    pub devices: Vec<String>,
    /// Counters that samples will lack, with the reason.
    pub absent: BTreeMap<String, String>,
}

/// A part of a run with a purpose of its own.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// May it be done at all?
    Guard,
    /// Files are created and written.
    Layout,
    /// All caches of the host are dropped, as asked.
    DropCaches,
    /// The target's pages leave the page cache.
    Invalidate,
    /// The target is read into the page cache.
    PreRead,
    /// Work before the measurement, left out of it.
    Ramp,
    /// The measurement.
    Measure,
    /// Writes reach the device.
    Flush,
    /// What was made is removed.
    CleanUp,
}

/// What a phase does.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseState {
    /// It begins.
    Begin,
    /// It goes on; `done_bytes` tells how far.
    Progress,
    /// It ended.
    End,
}

/// A phase began, went on or ended.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PhaseChange {
    /// Which phase.
    pub phase: Phase,
    /// What it does.
    pub state: PhaseState,
    /// Bytes done so far, where bytes are counted.
    pub done_bytes: Option<u64>,
    /// Bytes to do in all, where bytes are counted.
    pub total_bytes: Option<u64>,
    /// How long the phase is meant to take in milliseconds, where that is known.
    pub planned_ms: Option<u64>,
    /// What is being worked on, such as a path.
    pub note: Option<String>,
}

/// Buckets of a latency histogram that are not empty: pairs of bucket number and count. Bucket numbers are those of
/// `histogram`: 64 buckets to a power of two, see `docs/measurement.md`.
pub type Buckets = Vec<(u32, u64)>;

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

/// One window of counts at every layer.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Sample {
    /// The phase that the window lies in: `ramp` or `measure`.
    pub phase: Phase,
    /// Length of the window in milliseconds, as measured; `t_ms` of the event is its end.
    pub window_ms: f64,
    /// Reads.
    pub read: IoCounts,
    /// Writes.
    pub write: IoCounts,
    /// Trims.
    pub trim: IoCounts,
    /// fsync and fdatasync calls; their bytes are 0.
    pub sync: IoCounts,
    /// I/Os in flight at the end of the window.
    pub in_flight: u64,
    /// I/Os that failed in the window.
    pub errors: u64,
    /// What the target's device counted, summed over the targets; null with its reason in `absent` of `accepted`.
    pub device: Option<DeviceCounts>,
    /// What the physical devices under it counted; null likewise.
    pub physical_devices: Option<DeviceCounts>,
    /// The host's memory at the end of the window; null likewise.
    pub memory: Option<Memory>,
    /// Processor time; null likewise.
    pub cpu: Option<CpuUse>,
    /// Time lost to waiting for I/O; null likewise.
    pub pressure: Option<Pressure>,
    /// What this process alone moved from and to storage; null likewise.
    pub storage: Option<StorageIo>,
    /// How much of the targets lies in the page cache at the end of the window. Told once a second and at the borders of the
    /// measurement, null in between and where it is `absent`.
    pub residency: Option<Residency>,
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

/// The one result: what `leadline-runner run --json` prints, less the jobs and the host.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RunResult {
    /// What was measured.
    pub report: Report,
    /// Where the I/O went.
    pub verdict: Verdicts,
    /// What a reader must know.
    pub findings: Vec<Finding>,
}

/// Why a run ended without a result.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Failure {
    /// The exit code: 1 error, 2 invalid job, 3 guard, 5 environment, 130 and 143 signals.
    pub exit_code: u8,
    /// What was in the way; at least one.
    pub problems: Vec<Problem>,
}
