//! Findings that are known before the run: reasons why its results may be misinterpreted.

mod cache;
mod compatibility;
mod fio_differences;
mod mixed_paths;
mod target;
mod workload;

use crate::plan::{host_view::HostView, issues::Issues, steady_state};
use leadline_protocol::{
    finding::Severity,
    format::duration,
    job::Job,
    plan::{
        job::ResolvedJob,
        window::{late_ramps, measured_from_ms, window_begin_ms},
    },
};
use serde_json::json;

/// `requested`: the job from which `job` was resolved.
pub(crate) fn add_findings(
    requested: &Job,
    job: &ResolvedJob,
    host: &dyn HostView,
    issues: &mut Issues,
) {
    if job.is_measured() {
        workload::report_runtime(job, issues);
        steady_state::add_findings(job, issues);
        workload::report_depth(job, issues);
        cache::add_findings(job, host, issues);
        target::add_findings(job, host, issues);
        workload::report_pattern(job, issues);
    }
    fio_differences::add_findings(requested, job, issues);
    compatibility::add_findings(requested, issues);
}

/// Reports interactions between jobs.
pub(crate) fn report_combinations(jobs: &[ResolvedJob], issues: &mut Issues) {
    mixed_paths::report(jobs, issues);
    report_late_ramp(jobs, issues);
}

/// Reports the latest ramp that extends into the run's measured window. The window's counters then
/// include I/O that is not measured.
fn report_late_ramp(jobs: &[ResolvedJob], issues: &mut Issues) {
    let Some(late) = late_ramps(jobs).max_by_key(|job| measured_from_ms(job)) else {
        return;
    };
    let index = jobs.iter().position(|job| job.name == late.name);
    issues.begin_job(index.unwrap_or(0), &late.name);
    let begin_ms = window_begin_ms(jobs);
    let end_ms = measured_from_ms(late);
    issues.finding(
        Severity::Warning,
        "ramp_in_window",
        format!(
            "The ramp of job {} ends {} after the measurement starts. Device counters include its I/O, so the run gets no verdict.",
            late.name,
            duration((end_ms - begin_ms) as f64)
        ),
        json!({"window_begin_ms": begin_ms, "ramp_end_ms": end_ms}),
        "Use the same startdelay + ramp_time in all jobs.",
    );
}
