//! Builds the report from the workers' results, the counters of the measured window, and the
//! observations.

mod devices;
mod errors;
mod layers;
mod measured_worker;
mod stalls;
mod workers;

use crate::{
    load::worker::task::WorkerError,
    run::{
        report::{
            devices::{cpu_report, device_report, readings},
            errors::errors,
            measured_worker::MeasuredWorker,
            workers::{achieved_depth, job_report, overall_ended_by, totals, window_ns},
        },
        sampler::{MeasuredWindow, pauses::Pauses},
        target_observers::Observation,
        worker_pool::FinishedWorker,
    },
    system::{clock::NS_PER_MS, probes::Counters},
};
use leadline_protocol::{
    evidence::FlushReport,
    plan::job::ResolvedJob,
    report::{
        JobReport, MemoryReport, Report, device::CgroupReport, host_change::HostChange,
        missing_time::Pause,
    },
};
use std::collections::BTreeMap;

/// Report data other than the workers' results.
pub(crate) struct ReportContext {
    /// Kernel names of the devices under the targets.
    pub devices: Vec<String>,
    /// Directory of the run's control group.
    pub cgroup: Option<String>,
    /// Missing counters, and the reason for each.
    pub absent: BTreeMap<String, String>,
    pub thermal_throttles: Option<u64>,
    pub host_changes: Vec<HostChange>,
    pub window: MeasuredWindow,
    pub observation: Observation,
}

/// `origin_ns`: start of the run (CLOCK_MONOTONIC, in ns).
///
/// # Errors
/// Returns the error from the first worker that could not start or continue.
pub(crate) fn report(
    jobs: &[ResolvedJob],
    finished: Vec<FinishedWorker>,
    context: ReportContext,
    origin_ns: u64,
) -> Result<Report, WorkerError> {
    let workers: Vec<MeasuredWorker> = finished
        .into_iter()
        .map(MeasuredWorker::new)
        .collect::<Result<_, _>>()?;
    let all: Vec<&MeasuredWorker> = workers.iter().collect();
    let ReportContext {
        devices,
        cgroup,
        mut absent,
        thermal_throttles,
        host_changes,
        window,
        observation,
    } = context;
    absent.extend(observation.absent);
    let counters = Counters::window(&window.before, &window.after);
    let memory = window.before.memory.zip(window.after.memory);
    let duration_ns = window_ns(&all);
    let ([read, write, trim], sync) = totals(&all, duration_ns);
    let writes = jobs.iter().any(|job| job.pattern.rw.writes());
    let reports = jobs.iter().enumerate();
    let jobs: Vec<JobReport> = reports
        .map(|(index, job)| job_report(index, job, &all, &window, origin_ns))
        .collect();
    let begins = || workers.iter().map(|worker| worker.outcome.begin_ns);
    Ok(Report {
        started_at_ms: window.started_at_ms,
        duration_ms: ms(duration_ns),
        ended_by: Some(overall_ended_by(jobs.iter().map(|job| job.ended_by))),
        phases: Vec::new(),
        read,
        write,
        trim,
        sync,
        achieved_depth: achieved_depth(&all),
        foreign: None,
        start_skew_ns: Some(begins().max().unwrap_or(0) - begins().min().unwrap_or(0)),
        errors: errors(&jobs, &all),
        device: device_report(&devices, &counters),
        readings: readings(&window),
        cpu: cpu_report(&counters, thermal_throttles),
        memory: memory.map(|(start, end)| MemoryReport { start, end }),
        pressure: counters.pressure,
        storage: counters.storage,
        cgroup: cgroup
            .zip(counters.charged)
            .map(|(path, devices)| CgroupReport { path, devices }),
        flush: writes.then_some(FlushReport {
            dirty_bytes: observation.dirty_bytes,
            duration_ms: None,
        }),
        targets: observation.targets,
        gauge: None,
        transitions: observation.transitions,
        level_changes: window.levels.changes(),
        host_changes,
        pauses: pauses(&window.pauses, origin_ns),
        writeback: observation.writeback,
        requests: observation.requests,
        profile: observation.profile,
        absent,
        jobs,
    })
}

fn pauses(pauses: &Pauses, origin_ns: u64) -> Vec<Pause> {
    let found = pauses.found.iter();
    found
        .map(|(time_ns, cause)| Pause {
            start_ms: ms(time_ns.start.saturating_sub(origin_ns)),
            duration_ms: ms(time_ns.end - time_ns.start),
            cause: *cause,
        })
        .collect()
}

fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS as f64
}
