//! An element of `jobs` in fio's JSON.

use crate::{
    FinishedJob, FinishedRun,
    fio::{
        direction::{Direction, DirectionInput, Sync},
        job_options::job_options,
        latency::Detail,
        latency_bins::LatencyBins,
        rounded,
    },
    windows::Throughput,
};
use leadline_protocol::report::{JobReport, Report};
use serde::Serialize;
use serde_json::{Map, Value};

/// The results of a job across all its workers, as with fio's `group_reporting`.
#[derive(Serialize)]
pub(super) struct Job {
    jobname: String,
    /// Jobs of one run start together and are one group.
    groupid: u32,
    /// errno of the job's failure; 0 without errors.
    error: i32,
    eta: u64,
    /// In seconds, including the time before the measured window.
    elapsed: u64,
    #[serde(rename = "job options")]
    job_options: Map<String, Value>,
    read: Direction,
    write: Direction,
    trim: Direction,
    sync: Sync,
    /// Sum over all workers, in ms.
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    #[serde(flatten)]
    usage: Option<Usage>,
    latency_ns: Map<String, Value>,
    latency_us: Map<String, Value>,
    latency_ms: Map<String, Value>,
    latency_depth: u32,
    latency_target: u64,
    latency_percentile: f64,
    latency_window: u64,
}

/// Absent for runs recorded before these numbers were counted for each job.
#[derive(Serialize)]
struct Usage {
    ctx: u64,
    majf: u64,
    minf: u64,
}

/// Percentages of the job's runtime, summed over all workers.
pub(super) struct CpuShares {
    pub(super) user: f64,
    pub(super) system: f64,
}

impl Job {
    pub(super) fn new(
        run: &FinishedRun<'_>,
        finished: FinishedJob<'_>,
        groupid: u32,
        detail: Detail,
    ) -> Self {
        let report = &run.report;
        let FinishedJob {
            requested,
            resolved,
            report: job,
        } = finished;
        let [read, write, trim] = directions(run, job).map(|input| Direction::new(&input, detail));
        let cpu = CpuShares::of(job);
        let bins = LatencyBins::of(job);
        let target = resolved.timing.latency_target;
        Self {
            jobname: job.name.clone(),
            groupid,
            error: error_number(report, job),
            eta: 0,
            elapsed: elapsed_seconds(report),
            job_options: job_options(requested, resolved),
            read,
            write,
            trim,
            sync: Sync::new(&job.sync, detail),
            job_runtime: runtime_ms(job).round() as u64,
            usr_cpu: rounded(cpu.user),
            sys_cpu: rounded(cpu.system),
            usage: usage(job),
            latency_ns: LatencyBins::json(&bins.ns),
            latency_us: LatencyBins::json(&bins.us),
            latency_ms: LatencyBins::json(&bins.ms),
            latency_depth: latency_depth(job).unwrap_or(resolved.in_flight()),
            latency_target: target.map_or(0, |target| target.target_us.saturating_mul(1000)),
            latency_percentile: target.map_or(100.0, |target| target.percentile),
            latency_window: target.map_or(0, |target| target.window_us),
        }
    }
}

/// Final depth of the first worker with `latency_target`.
fn latency_depth(job: &JobReport) -> Option<u32> {
    let result = job.latency_target.as_ref()?;
    result.depths.first().copied()
}

/// Reads, writes and trims of a job.
pub(super) fn directions<'a>(
    run: &'a FinishedRun<'_>,
    job: &'a JobReport,
) -> [DirectionInput<'a>; 3] {
    let report = &run.report;
    let windows = run.windows;
    let throughput = |throughput: &'a Throughput| (report.jobs.len() == 1).then_some(throughput);
    let input = |stats, throughput, total_bytes_per_second| DirectionInput {
        stats,
        duration_ms: job.duration_ms,
        throughput,
        total_bytes_per_second,
    };
    [
        input(
            &job.read,
            throughput(&windows.read),
            report.read.bytes_per_second,
        ),
        input(
            &job.write,
            throughput(&windows.write),
            report.write.bytes_per_second,
        ),
        input(
            &job.trim,
            throughput(&windows.trim),
            report.trim.bytes_per_second,
        ),
    ]
}

impl CpuShares {
    pub(super) fn of(job: &JobReport) -> Self {
        let ios = job.read.ios + job.write.ios + job.trim.ios + job.sync.ios;
        let runtime_ns = runtime_ms(job) * 1e6;
        let percentage = |ns_per_io: Option<f64>| {
            let cpu_ns = ns_per_io.unwrap_or(0.0) * ios as f64;
            if runtime_ns > 0.0 {
                cpu_ns * 100.0 / runtime_ns
            } else {
                0.0
            }
        };
        Self {
            user: percentage(job.user_ns_per_io),
            system: percentage(job.system_ns_per_io),
        }
    }
}

fn usage(job: &JobReport) -> Option<Usage> {
    let usage = job.usage?;
    Some(Usage {
        ctx: usage.context_switches,
        majf: usage.major_faults,
        minf: usage.minor_faults,
    })
}

fn runtime_ms(job: &JobReport) -> f64 {
    job.duration_ms * f64::from(job.workers)
}

/// Returns the errno(3) that fio would report for the job; 0 for a successful job.
pub(super) fn error_number(report: &Report, job: &JobReport) -> i32 {
    let first = report.errors.first.as_ref();
    let failed_io = first.filter(|error| error.job == job.name);
    let limit = job.violated_limit.as_ref();
    let is_damaged = job
        .verify
        .as_ref()
        .is_some_and(|verify| verify.bad_blocks > 0);
    match (failed_io, limit) {
        (Some(error), _) => error.errno,
        // As in fio's io_u.c and backend.c (`check_min_rate`).
        (None, Some(limit)) if limit.option == "max_latency" => ETIMEDOUT,
        (None, Some(_)) => EIO,
        (None, None) if is_damaged => EILSEQ,
        (None, None) => 0,
    }
}

/// errno(3) values, as in fio's results on Linux.
const EIO: i32 = 5;
const EILSEQ: i32 = 84;
const ETIMEDOUT: i32 = 110;

fn elapsed_seconds(report: &Report) -> u64 {
    let ends = report
        .phases
        .iter()
        .map(|phase| phase.start_ms + phase.duration_ms);
    (ends.fold(0.0, f64::max) / 1_000.0).ceil() as u64
}
