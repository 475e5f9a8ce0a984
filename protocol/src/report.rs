//! The one result of a run: words on the wire, and how they follow from what was counted (`build`, pure).
//! `docs/measurement.md` defines every number.

use crate::counters::{DeviceCounts, Memory, StorageIo};
use crate::evidence::{FlushReport, Profile, Requests, TargetReport, Transition, Writeback};
use crate::gauge::GaugeReport;
use crate::histogram::Buckets;
use crate::job::value::EngineName;
use crate::phase::Phase;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The percentiles that a report lists; the buckets beside them hold all others.
pub const PERCENTILES: &[f64] = &[
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99, 99.999,
];

/// What was measured in the measured window.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Report {
    /// When the measured window began, in milliseconds since 1970 UTC.
    pub started_at_ms: u64,
    /// Length of the measured window in milliseconds.
    pub duration_ms: f64,
    /// What ended the measured window.
    pub ended_by: EndedBy,
    /// Each phase with its time.
    pub phases: Vec<PhaseTime>,
    /// Reads of all jobs.
    pub read: DirectionStats,
    /// Writes of all jobs.
    pub write: DirectionStats,
    /// Trims of all jobs.
    pub trim: DirectionStats,
    /// fsync and fdatasync calls of all jobs.
    pub sync: SyncStats,
    /// Each job by itself.
    pub jobs: Vec<JobReport>,
    /// What the target's block device counted; null with its reason in `absent`.
    pub device: Option<DeviceReport>,
    /// The counters of the devices under the targets and of those beneath, as they stood at both ends.
    #[serde(default)]
    #[schema(required = true)]
    pub readings: Vec<Reading>,
    /// Processor time of the measured window; null likewise.
    pub cpu: Option<CpuReport>,
    /// Memory at the beginning and the end; null likewise.
    pub memory: Option<MemoryReport>,
    /// Share of the measured window that tasks waited for I/O, in percent; null likewise.
    pub pressure: Option<crate::counters::Pressure>,
    /// What this process alone moved from and to storage; null likewise.
    pub storage: Option<StorageIo>,
    /// Each file or device that was worked on.
    #[serde(default)]
    #[schema(required = true)]
    pub targets: Vec<TargetReport>,
    /// Depth gauge of each direction; null in runs recorded before it existed.
    #[serde(default)]
    pub gauge: Option<GaugeReport>,
    /// When a direction turned from the device to memory or back, in order; the first ones, where there are many.
    #[serde(default)]
    #[schema(required = true)]
    pub transitions: Vec<Transition>,
    /// What the host's writeback did; null likewise.
    pub writeback: Option<Writeback>,
    /// What was still in memory at the end; null where nothing was written.
    pub flush: Option<FlushReport>,
    /// Sizes of the requests at the device, with `request_sizes=1`; null otherwise, and where it is `absent`.
    pub requests: Option<Requests>,
    /// Where the runner's processor time went, with `profile=1`; null otherwise, and where it is `absent`.
    pub profile: Option<Profile>,
    /// I/Os that failed.
    pub errors: ErrorReport,
    /// The time between the first and the last clone's first I/O, in ns.
    pub start_skew_ns: u64,
    /// Mean number of I/Os in flight: sum of all latencies / sum of the clones' measured times. Beside it stands `iodepth` as asked.
    pub achieved_depth: Option<f64>,
    /// Numbers that are missing, with the reason.
    pub absent: BTreeMap<String, String>,
}

impl Report {
    /// CPU time of the runner per I/O in ns; `None` without I/O or CPU times.
    pub fn cpu_ns_per_io(&self) -> Option<f64> {
        let ios = self.read.ios + self.write.ios + self.trim.ios;
        let cpu = self.cpu.as_ref()?;
        (ios > 0).then(|| (cpu.user_ms + cpu.system_ms) * 1e6 / ios as f64)
    }
}

/// What ended the measured window.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The work was done.
    Size,
    /// The time was over.
    Runtime,
    /// `number_ios` was reached.
    NumberIos,
    /// SIGINT, SIGTERM or a cancel: the report covers what was measured until then.
    Signal,
    /// An I/O failed.
    Error,
}

/// A phase and how long it took.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct PhaseTime {
    /// Which.
    pub phase: Phase,
    /// When it began, in milliseconds since the run began.
    pub start_ms: f64,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// Bytes it moved, where bytes are counted.
    pub bytes: Option<u64>,
}

/// One direction in the measured window.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DirectionStats {
    /// I/Os completed in the window.
    pub ios: u64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// I/Os a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// From just before submission until the kernel took it.
    pub slat_ns: LatencyStats,
    /// From when the kernel took it until reaped.
    pub clat_ns: LatencyStats,
    /// From just before submission until reaped.
    pub lat_ns: LatencyStats,
    /// From when `rate` or `rate_iops` wanted the I/O to start until reaped; null where the direction has no rate.
    pub intended_lat_ns: Option<LatencyStats>,
}

/// fsync and fdatasync calls.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SyncStats {
    /// Calls completed in the window.
    pub ios: u64,
    /// From just before the call until it returned.
    pub lat_ns: LatencyStats,
}

/// Latencies in ns. Null where nothing was counted.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LatencyStats {
    /// Shortest, exact.
    pub min: Option<u64>,
    /// Longest, exact.
    pub max: Option<u64>,
    /// Mean, exact.
    pub mean: Option<f64>,
    /// Standard deviation, from the buckets (error at most 0.8 %).
    pub stddev: Option<f64>,
    /// How many were counted.
    pub count: u64,
    /// Percentile → ns, from the buckets (error at most 0.8 %), such as `"99.9": 120832`. Empty where nothing was counted.
    pub percentiles: BTreeMap<String, u64>,
    /// The whole distribution.
    #[schema(value_type = Vec<Vec<u64>>)]
    pub buckets: Buckets,
}

/// One job, all its clones together.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct JobReport {
    /// Name as resolved.
    pub name: String,
    /// The engine that did the I/O (the fallback, where one was used).
    pub engine: EngineName,
    /// Clones.
    pub workers: u32,
    /// Length of this job's measured window in milliseconds.
    pub duration_ms: f64,
    /// What ended it.
    pub ended_by: EndedBy,
    /// Reads.
    pub read: DirectionStats,
    /// Writes.
    pub write: DirectionStats,
    /// Trims.
    pub trim: DirectionStats,
    /// fsync and fdatasync calls.
    pub sync: SyncStats,
    /// Processor time of this job's threads in user mode, in ns per I/O; null where no I/O was done.
    pub user_ns_per_io: Option<f64>,
    /// Processor time of this job's threads in the kernel, in ns per I/O; null where no I/O was done.
    pub system_ns_per_io: Option<f64>,
    /// I/Os that failed.
    pub errors: u64,
    /// What was chosen for this job and why, such as `registered file: saves the kernel a lookup per I/O`.
    pub decisions: Vec<Decision>,
}

/// Something that the plan chose, with its reason: nothing that changes a number is silent.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Decision {
    /// What was chosen, such as `registered_file`.
    pub name: String,
    /// Whether it is in use.
    pub used: bool,
    /// Why, or why not.
    pub reason: String,
}

/// What the target's block device counted in the measured window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct DeviceReport {
    /// Kernel name, such as `vda`; several are joined by `+`.
    pub name: String,
    /// The counts.
    #[serde(flatten)]
    pub counts: DeviceCounts,
    /// Share of the window in which the device had something to do, in percent.
    pub utilization: f64,
    /// The physical devices under it (itself, where there is nothing under it).
    pub physical_devices: Vec<PhysicalDeviceReport>,
}

/// What a device had counted since the system started, at both ends of the measured window: what a reader of
/// `/sys/class/block/NAME/stat` would have seen.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Reading {
    /// Kernel name.
    pub device: String,
    /// At the beginning.
    pub start: DeviceCounts,
    /// At the end.
    pub end: DeviceCounts,
}

/// What one physical device counted in the measured window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct PhysicalDeviceReport {
    /// Kernel name.
    pub name: String,
    /// The counts.
    #[serde(flatten)]
    pub counts: DeviceCounts,
    /// Share of the window in which it had something to do, in percent.
    pub utilization: f64,
}

/// Processor time of the measured window.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CpuReport {
    /// The runner, in user mode, in ms.
    pub user_ms: f64,
    /// The runner, in the kernel, in ms.
    pub system_ms: f64,
    /// The runner, in percent of one processor.
    pub process_percent: f64,
    /// All processors of the host, busy with anything, in percent of all of them.
    pub host_percent: f64,
    /// Voluntary and involuntary context switches of the runner.
    pub context_switches: u64,
    /// Times that a processor was slowed because it was hot; null where the kernel does not count (virtual machines).
    #[serde(default)]
    pub thermal_throttles: Option<u64>,
}

/// Memory at the beginning and the end of the measured window.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct MemoryReport {
    /// At the beginning.
    pub start: Memory,
    /// At the end.
    pub end: Memory,
}

/// I/Os that failed.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ErrorReport {
    /// How many.
    pub total: u64,
    /// The first of them.
    pub first: Option<FirstError>,
}

/// The first I/O that failed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct FirstError {
    /// The job's name.
    pub job: String,
    /// `read`, `write`, `trim` or `sync`.
    pub operation: String,
    /// Where in the target, in bytes.
    pub offset: u64,
    /// How many bytes were asked for.
    pub bytes: u64,
    /// errno(3) of it; 0 for an I/O that moved fewer bytes than asked at the end of the target.
    pub errno: i32,
    /// What that means.
    pub message: String,
}
