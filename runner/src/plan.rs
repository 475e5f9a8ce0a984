//! Plans a run: resolves all job defaults against facts about the host, and reports all problems
//! with remedies. Accesses the host only through `HostView`.
//!
//! Each job passes through `states`, `job_request` and `resolved_job`, followed by checks of the
//! whole run.

pub(crate) mod aio;
pub(crate) mod alignment;
pub(crate) mod block_sizes;
pub(crate) mod command_priorities;
pub(crate) mod confirmations;
pub(crate) mod dedupe;
pub(crate) mod estimate;
pub(crate) mod exit_groups;
pub(crate) mod findings;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod host_checks;
pub mod host_view;
pub(crate) mod issues;
pub(crate) mod job_names;
pub(crate) mod job_request;
pub(crate) mod layout;
pub(crate) mod memory;
pub(crate) mod option_checks;
pub(crate) mod overload;
pub(crate) mod phases;
pub(crate) mod projected_files;
pub(crate) mod regions;
pub(crate) mod resolved_job;
pub(crate) mod space_budget;
pub(crate) mod states;
pub(crate) mod steady_state;
pub(crate) mod study;
pub(crate) mod summary;
pub(crate) mod target_paths;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod timing;
pub(crate) mod tolerated_errors;
pub(crate) mod unused_options;
pub(crate) mod verify;
pub(crate) mod zones;

use crate::plan::{
    host_view::HostView, issues::Issues, job_request::JobRequest, projected_files::ProjectedFiles,
    space_budget::SpaceBudget,
};
use leadline_protocol::{
    job::{range::MAX_WORKERS, run_spec::RunSpec},
    plan::{Plan, job::ResolvedJob},
    problem::Problem,
};

pub fn resolve(run: &RunSpec, host: &dyn HostView) -> Plan {
    resolve_after(&ProjectedFiles::default(), run, host)
}

/// Plans a run in a study whose earlier steps leave `files` on the host.
pub(crate) fn resolve_after(files: &ProjectedFiles, run: &RunSpec, host: &dyn HostView) -> Plan {
    let mut issues = Issues::default();
    let mut indexed_jobs = resolve_jobs(files, run, host, &mut issues);
    dedupe::share_jobs(&mut indexed_jobs);
    exit_groups::assign(&run.jobs, &mut indexed_jobs);
    memory::resolve_registration(&mut indexed_jobs, &run.jobs, host);
    memory::check(&indexed_jobs, host, &mut issues);
    aio::check(&indexed_jobs, host, &mut issues);
    check_workers(&indexed_jobs, &mut issues);
    states::check_shared(&indexed_jobs, &mut issues);
    states::check_shared_allocation(&indexed_jobs, &mut issues);
    states::check_shared_loops(&indexed_jobs, &mut issues);
    verify::check_shared(&indexed_jobs, &mut issues);
    check_devices(&run.devices, &indexed_jobs, &mut issues);
    let resolved: Vec<&ResolvedJob> = indexed_jobs.iter().map(|(_, job)| job).collect();
    let confirmations = confirmations::check(run, &resolved, host, &mut issues);
    let mut jobs = Vec::new();
    if indexed_jobs.len() == run.jobs.len() && !issues.has_invalid() {
        jobs.extend(indexed_jobs.into_iter().map(|(_, job)| job));
    }
    findings::report_combinations(&jobs, &mut issues);
    Plan {
        import: None,
        confirmations,
        sample_ms: run.sample_ms,
        phases: phases::plan_phases(&jobs, run.idle_wait_seconds),
        estimate: estimate::estimate(&jobs),
        measures: summary::summarize(&jobs),
        findings: issues.findings,
        problems: issues.problems,
        jobs,
    }
}

/// Returns the jobs that can be resolved, with their indices in the run.
fn resolve_jobs(
    files: &ProjectedFiles,
    run: &RunSpec,
    host: &dyn HostView,
    issues: &mut Issues,
) -> Vec<(usize, ResolvedJob)> {
    let names = job_names::resolve(&run.jobs, issues);
    let mut budget = SpaceBudget::new(files);
    let mut jobs = Vec::new();
    for (index, job) in run.jobs.iter().enumerate() {
        let name = &names[index];
        issues.begin_job(index, name);
        let mut expanded = states::expand(job, issues);
        verify::expand(&mut expanded);
        let request = JobRequest::resolve(&expanded, name.clone(), host, issues);
        if let Some(resolved) = resolved_job::resolve(&request, index, host, &mut budget, issues) {
            unused_options::check(job, &resolved, issues);
            findings::add_findings(job, &resolved, host, issues);
            jobs.push((index, resolved));
        }
    }
    budget.check(&names, issues);
    jobs
}

fn check_workers(jobs: &[(usize, ResolvedJob)], issues: &mut Issues) {
    let workers: u64 = jobs.iter().map(|(_, job)| u64::from(job.numjobs)).sum();
    if let Some((index, job)) = jobs.last()
        && workers > u64::from(MAX_WORKERS)
    {
        issues.begin_job(*index, &job.name);
        let detail = format!("The run has {workers} workers in total.");
        let remedy = format!("Use at most {MAX_WORKERS} workers across all jobs.");
        issues.invalid("out_of_range", "numjobs", detail, remedy);
    }
}

/// Rejects devices other than those selected when the run was requested, because device names can
/// change while a run is queued.
fn check_devices(selected: &[String], jobs: &[(usize, ResolvedJob)], issues: &mut Issues) {
    if selected.is_empty() {
        return;
    }
    for (index, job) in jobs {
        for target in &job.targets {
            let Some(device) = target.device_id() else {
                continue;
            };
            if selected.iter().any(|id| id == device) {
                continue;
            }
            issues.begin_job(*index, &job.name);
            let detail = format!(
                "{} is now {device}; the run was requested for {}.",
                target.path,
                selected.join(", ")
            );
            let remedy = "Request the run again if this device is correct.";
            let problem = Problem::guard("identity_changed", "filename", detail, remedy);
            issues.problem(problem, "filename");
        }
    }
}
