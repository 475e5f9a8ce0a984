//! The report of a run. `docs/measurement.md` defines every number.

pub mod arrivals;
mod consistency;
pub mod device;
pub mod foreign;
pub mod host_change;
pub mod layers;
pub mod limit;
pub mod missing_time;
pub mod stats;
pub mod steady_state;
pub mod verify;

use crate::{
    counters::{Memory, Pressure, StorageIo},
    evidence::{
        FlushReport, Profile, Requests, Writeback, level_change::LevelChange, target::TargetReport,
        transition::Transition,
    },
    gauge::GaugeReport,
    job::engine::EngineName,
    phase::Phase,
    report::{
        arrivals::ArrivalReport,
        device::{CgroupReport, DeviceReport, Reading},
        foreign::ForeignResult,
        host_change::HostChange,
        layers::JobLayers,
        limit::ViolatedLimit,
        missing_time::{MAX_STALLED_MS, MAX_STALLED_SHARE, Pause, Stalls},
        stats::{DirectionStats, SyncStats},
        steady_state::SteadyStateReport,
        verify::VerifyReport,
    },
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Results for the measured window. `absent` explains missing numbers.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Report {
    /// Start of the measured window, as a Unix time in milliseconds.
    pub started_at_ms: u64,
    /// Length of the measured window.
    pub duration_ms: f64,
    /// Null for results of other programs that do not contain it.
    pub ended_by: Option<EndedBy>,
    pub phases: Vec<PhaseTime>,
    /// Reads by all jobs.
    pub read: DirectionStats,
    /// Writes by all jobs.
    pub write: DirectionStats,
    /// Trims by all jobs.
    pub trim: DirectionStats,
    /// fsync and fdatasync calls by all jobs.
    pub sync: SyncStats,
    pub jobs: Vec<JobReport>,
    /// Counters for the targets' block devices.
    pub device: Option<DeviceReport>,
    /// Absolute counters for these devices and the devices below them.
    #[serde(default)]
    #[schema(required = true)]
    pub readings: Vec<Reading>,
    pub cpu: Option<CpuReport>,
    /// Host memory at the start and end.
    pub memory: Option<MemoryReport>,
    /// I/O pressure on the host.
    pub pressure: Option<Pressure>,
    /// Storage I/O of the runner process.
    pub storage: Option<StorageIo>,
    /// I/O of the run's control group; null if the host does not permit one, and in older runs.
    #[serde(default)]
    pub cgroup: Option<CgroupReport>,
    #[serde(default)]
    #[schema(required = true)]
    pub targets: Vec<TargetReport>,
    /// Depth gauge for each direction; null for runs recorded before it was introduced.
    #[serde(default)]
    pub gauge: Option<GaugeReport>,
    /// Changes between device and memory by direction, in order; limited to the first ones.
    #[serde(default)]
    #[schema(required = true)]
    pub transitions: Vec<Transition>,
    /// IOPS level changes within the measured window, in order; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level_changes: Vec<LevelChange>,
    /// Host settings that changed during the measurement; absent if none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_changes: Vec<HostChange>,
    /// Periods during which the runner itself was not running; limited to the first ones.
    #[serde(default)]
    #[schema(required = true)]
    pub pauses: Vec<Pause>,
    /// Writeback on the host.
    pub writeback: Option<Writeback>,
    /// Data that was still in memory at the end; null if there were no writes.
    pub flush: Option<FlushReport>,
    /// Request sizes at the device; null unless `request_sizes=1`.
    pub requests: Option<Requests>,
    /// CPU profile of the runner; null unless `profile=1`.
    pub profile: Option<Profile>,
    /// Failed I/Os.
    pub errors: ErrorReport,
    /// Time between the first I/O of the first worker and the first I/O of the last worker.
    pub start_skew_ns: Option<u64>,
    /// Mean number of I/Os in flight per worker: sum of all latencies / sum of the workers'
    /// measured times.
    pub achieved_depth: Option<f64>,
    /// Where the result came from; absent if Leadline measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignResult>,
    /// Reasons why numbers are missing.
    pub absent: BTreeMap<String, String>,
}

impl Report {
    /// The job whose storage stalled for so long that the run failed.
    pub fn stalled_job(&self) -> Option<(&JobReport, &Stalls)> {
        let stalls = self
            .jobs
            .iter()
            .filter_map(|job| Some((job, job.stalls.as_ref()?)));
        stalls
            .filter(|(job, stalls)| {
                let is_long = stalls.total_ms > MAX_STALLED_MS || job.is_hung();
                is_long && stalls.share > MAX_STALLED_SHARE
            })
            .max_by(|a, b| a.1.share.total_cmp(&b.1.share))
    }

    /// Whether storage was stalled at the end of the measured window.
    pub fn is_hung(&self) -> bool {
        self.jobs.iter().any(JobReport::is_hung)
    }

    /// The first job with bad blocks.
    pub fn damaged_job(&self) -> Option<(&JobReport, &VerifyReport)> {
        let jobs = self.jobs.iter();
        let mut verified = jobs.filter_map(|job| Some((job, job.verify.as_ref()?)));
        verified.find(|(_, verify)| verify.bad_blocks > 0)
    }

    /// The job that violated `rate_min`, `rate_iops_min` or `max_latency`, which failed the run.
    pub fn violated_limit(&self) -> Option<(&JobReport, &ViolatedLimit)> {
        let mut jobs = self.jobs.iter();
        jobs.find_map(|job| Some((job, job.violated_limit.as_ref()?)))
    }

    /// End of the measured window, as a Unix time in milliseconds.
    pub fn end_ms(&self) -> u64 {
        self.started_at_ms.saturating_add(self.duration_ms as u64)
    }

    /// CPU time of the runner per I/O, in ns; `None` if it is unknown or there was no I/O.
    pub fn cpu_ns_per_io(&self) -> Option<f64> {
        let reads_and_writes = self.read.ios.saturating_add(self.write.ios);
        let ios = reads_and_writes.saturating_add(self.trim.ios);
        let cpu = self.cpu.as_ref()?;
        (ios > 0).then(|| (cpu.user_ms + cpu.system_ms) * 1e6 / ios as f64)
    }

    /// Device reads and writes per read or write of the run; `None` if there are no device counters
    /// or no reads or writes.
    pub fn device_ios_per_io(&self) -> Option<f64> {
        let ios = self.read.ios.saturating_add(self.write.ios);
        let device = &self.device.as_ref()?.counts;
        (ios > 0).then(|| device.read_ios.saturating_add(device.write_ios) as f64 / ios as f64)
    }
}

/// Why the measured window ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// All data was transferred.
    Size,
    Runtime,
    /// The `number_ios` limit was reached.
    NumberIos,
    /// The steady state was attained.
    SteadyState,
    /// The backlog exceeded its limit and grew for `overload_time`.
    Overload,
    /// The queue depth for `latency_target` was found.
    LatencyTarget,
    /// A worker of a job with `exitall` ended.
    Exitall,
    /// A job violated `rate_min`, `rate_iops_min` or `max_latency`, which ends all jobs.
    ViolatedLimit,
    /// SIGINT, SIGTERM or cancellation; the report covers the time up to that point.
    Signal,
    /// An I/O failed.
    Error,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct PhaseTime {
    pub phase: Phase,
    /// Milliseconds since the start of the run.
    pub start_ms: f64,
    pub duration_ms: f64,
    /// Bytes transferred; null if the phase does not count bytes.
    pub bytes: Option<u64>,
}

/// Results of one job, across all its workers.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct JobReport {
    pub name: String,
    /// The engine that was used.
    pub engine: EngineName,
    /// Number of workers.
    pub workers: u32,
    /// Length of this job's measured window.
    pub duration_ms: f64,
    pub ended_by: EndedBy,
    pub read: DirectionStats,
    pub write: DirectionStats,
    pub trim: DirectionStats,
    /// fsync and fdatasync calls.
    pub sync: SyncStats,
    /// User-mode CPU time of the job's threads per I/O; null if there was no I/O.
    pub user_ns_per_io: Option<f64>,
    /// Kernel-mode CPU time of the job's threads per I/O; null if there was no I/O.
    pub system_ns_per_io: Option<f64>,
    /// Null for runs recorded before it was counted for each job.
    #[serde(default)]
    pub usage: Option<ThreadUsage>,
    /// Number of failed I/Os.
    pub errors: u64,
    /// Optimizations, and whether they were used.
    pub decisions: Vec<Decision>,
    /// Storage layers that served a sample of the I/Os; null for runs recorded before I/Os were
    /// sampled.
    #[serde(default)]
    pub layers: Option<JobLayers>,
    /// Periods without completions; null for runs recorded before they were detected.
    #[serde(default)]
    pub stalls: Option<Stalls>,
    /// Result of reading back written blocks; null if `verify` is not set.
    #[serde(default)]
    pub verify: Option<VerifyReport>,
    /// Arrivals and backlog; null if `rate_iops` is not set, and for runs recorded before they were
    /// counted.
    #[serde(default)]
    pub arrivals: Option<ArrivalReport>,
    /// Whether the steady state was attained; null if `steadystate_duration` is not set.
    #[serde(default)]
    pub steady_state: Option<SteadyStateReport>,
    /// Result of the search; null if `latency_target` is not set.
    #[serde(default)]
    pub latency_target: Option<LatencyTargetReport>,
    /// The limit that the job violated; null if it met all of them.
    #[serde(default)]
    pub violated_limit: Option<ViolatedLimit>,
}

/// Result of the search for the highest queue depth within a latency limit (`latency_target`).
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct LatencyTargetReport {
    /// Last queue depth of each worker.
    pub depths: Vec<u32>,
    /// Whether every worker has completed its search.
    pub attained: bool,
    /// The result in one sentence.
    pub summary: String,
}

impl JobReport {
    fn is_hung(&self) -> bool {
        let Some(stalls) = &self.stalls else {
            return false;
        };
        let directions = [&self.read, &self.write, &self.trim].map(|stats| stats.unfinished);
        let all = directions.iter().chain([&self.sync.unfinished]).flatten();
        let oldest_ns = all.map(|unfinished| unfinished.oldest_ns).max();
        stalls.count > 0 && oldest_ns.unwrap_or(0) as f64 / 1e6 >= stalls.threshold_ms
    }
}

/// Counts of a job's threads in the measured window (getrusage(2)).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ThreadUsage {
    /// Voluntary and involuntary.
    pub context_switches: u64,
    /// Page faults that required I/O.
    pub major_faults: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
}

/// An optimization, and why it was or was not used.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Decision {
    /// For example, `registered_files`.
    pub name: String,
    pub used: bool,
    pub reason: String,
}

/// CPU time in the measured window.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CpuReport {
    /// Runner, user mode.
    pub user_ms: f64,
    /// Runner, kernel mode.
    pub system_ms: f64,
    /// Runner, as a percentage of one CPU.
    pub process_percent: f64,
    /// Host, as a percentage of all CPUs.
    pub host_percent: f64,
    /// Voluntary and involuntary context switches of the runner.
    pub context_switches: u64,
    /// Thermal throttling events; null if the kernel does not count them (virtual machines).
    #[serde(default)]
    pub thermal_throttles: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct MemoryReport {
    pub start: Memory,
    pub end: Memory,
}

/// Failed I/Os.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ErrorReport {
    pub total: u64,
    /// The failed I/O that ended the run, or the first one after which it continued.
    pub first: Option<FirstError>,
    /// Failed I/Os after which the jobs continued (`continue_on_error`), by job, operation and
    /// error.
    #[serde(default)]
    #[schema(required = true)]
    pub tolerated: Vec<ToleratedError>,
}

impl ErrorReport {
    /// Whether at least one failed I/O was not tolerated: the I/O that ended the run, or the flush.
    pub fn is_fatal(&self) -> bool {
        let tolerated: u64 = self.tolerated.iter().map(|error| error.count).sum();
        self.total > tolerated
    }
}

/// Failed I/Os of a job with the same operation and error.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ToleratedError {
    /// Name of the job.
    pub job: String,
    /// `read`, `write`, `trim` or `sync`.
    pub operation: String,
    /// errno(3).
    pub errno: i32,
    pub message: String,
    pub count: u64,
    /// Offsets within the target of each worker's first failed I/Os, in bytes.
    pub offsets: Vec<u64>,
}

/// The first failed I/O.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct FirstError {
    /// Name of the job.
    pub job: String,
    /// `read`, `write`, `trim` or `sync`.
    pub operation: String,
    /// Offset within the target, in bytes.
    pub offset: u64,
    /// Requested bytes.
    pub bytes: u64,
    /// errno(3); 0 for a short I/O at the end of the target.
    pub errno: i32,
    pub message: String,
}
