//! Compares runs with their plans.

use crate::{
    expected::{Bounds, total_bytes, total_ios, totals},
    files::{Case, Content},
    observed::Observed,
    rates, times,
};
use leadline_protocol::{
    job::keyword::FileState,
    phase::Phase,
    plan::{job::ResolvedJob, target::TargetKind},
    problem::Problem,
    report::Report,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// Upper bounds of the runner's memory excluding buffers, per run and per worker.
const BASE_BYTES: u64 = 64 << 20;
const WORKER_BYTES: u64 = 4 << 20;

pub(crate) fn violations(case: &Case, observed: &Observed) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(changed_by_plan(observed));
    found.extend(differing_problems(observed));
    let is_rejected = !observed.plan.problems.is_empty() || !observed.run.problems.is_empty();
    if is_rejected {
        found.extend(changed_by_rejected_run(observed));
        return found;
    }
    let Some(report) = &observed.run.report else {
        found.push(format!("no report: {}", observed.run.stderr));
        return found;
    };
    if report.errors.total > 0 || observed.run.code != 0 {
        let (code, errors) = (observed.run.code, &report.errors);
        found.push(format!("exit {code}, {errors:?}, {}", observed.run.stderr));
    }
    found.extend(differing_jobs(observed));
    found.extend(unexpected_totals(case, observed, report));
    found.extend(unexpected_writes(observed, report));
    found.extend(excess_memory(observed));
    found.extend(times::violations(observed, report));
    found.extend(unexpected_files(observed));
    found.extend(unexpected_lengths(observed));
    found.extend(unplanned_changes(case, observed));
    found.extend(missing_notices(case, observed));
    found
}

fn changed_by_plan(observed: &Observed) -> Option<String> {
    (observed.before != observed.after_plan).then(|| "the plan changed files".to_owned())
}

fn changed_by_rejected_run(observed: &Observed) -> Option<String> {
    (observed.before != observed.after).then(|| "the rejected run changed files".to_owned())
}

/// Compares only codes and fields, because details contain times.
fn differing_problems(observed: &Observed) -> Option<String> {
    let key = |problem: &Problem| (problem.code.clone(), problem.field.clone());
    let planned: Vec<_> = observed.plan.problems.iter().map(key).collect();
    let done: Vec<_> = observed.run.problems.iter().map(key).collect();
    let (plan_code, run_code) = (observed.plan_code, observed.run.code);
    (planned != done || plan_code != run_code).then(|| {
        format!(
            "plan exits {plan_code} {planned:?}, run exits {run_code} {done:?} {}",
            observed.run.stderr
        )
    })
}

/// The run must start with the same jobs as in the plan.
fn differing_jobs(observed: &Observed) -> Option<String> {
    let accepted = observed.run.accepted.as_ref()?;
    let planned = &observed.plan.jobs;
    let mut jobs: Vec<ResolvedJob> = serde_json::from_value(accepted["jobs"].clone()).unwrap();
    let targets = planned
        .iter()
        .zip(&mut jobs)
        .flat_map(|(planned, job)| planned.targets.iter().zip(&mut job.targets));
    // The plan does not contain the loop device, which is only known once it is attached.
    for (planned, target) in targets.filter(|(planned, _)| planned.kind == TargetKind::Loop) {
        target.device.clone_from(&planned.device);
        target.filesystem.clone_from(&planned.filesystem);
    }
    let differing = planned
        .iter()
        .zip(&jobs)
        .find(|(planned, job)| planned != job);
    differing.map(|(planned, job)| format!("planned {planned:?}, accepted {job:?}"))
}

/// Compares each job's I/Os and bytes with the expected numbers.
fn unexpected_totals(case: &Case, observed: &Observed, report: &Report) -> Vec<String> {
    let pairs = observed.plan.jobs.iter().zip(&report.jobs).enumerate();
    let check = |(index, (job, done))| {
        let (ios, bytes) = totals(case, index, job);
        let is_expected = ios.contain(total_ios(done)) && bytes.contain(total_bytes(done));
        (!is_expected).then(|| {
            let (done_ios, done_bytes) = (total_ios(done), total_bytes(done));
            format!("job {index}: {ios:?} I/Os, {bytes:?} bytes expected; {done_ios}, {done_bytes}")
        })
    };
    let limits = observed.plan.jobs.iter().zip(&report.jobs);
    let limits = limits.flat_map(|(job, done)| rates::violations(job, done));
    pairs.filter_map(check).chain(limits).collect()
}

/// Compares the bytes written by layout and measurement with the plan.
fn unexpected_writes(observed: &Observed, report: &Report) -> Vec<String> {
    let plan = &observed.plan;
    let estimate = &plan.estimate;
    let mut found = Vec::new();
    let of_phase = |phase| plan.phases.iter().find(|planned| planned.phase == phase);
    let planned = of_phase(Phase::Layout).map_or(0, |layout| layout.write_bytes.unwrap_or(0));
    let done = report
        .phases
        .iter()
        .find(|time| time.phase == Phase::Layout);
    let done = done.map_or(0, |layout| layout.bytes.unwrap_or(0));
    if planned != estimate.layout_bytes || done != planned {
        let bytes = estimate.layout_bytes;
        found.push(format!(
            "layout {bytes} bytes estimated, {planned} planned, {done} written"
        ));
    }
    let bound = estimate.measure_write_bytes;
    let measure = of_phase(Phase::Measure).unwrap().write_bytes;
    let done = report.write.bytes;
    if bound != measure || bound.is_some_and(|bound| done > bound) {
        found.push(format!(
            "measure {bound:?} bytes estimated, {measure:?} planned, {done} written"
        ));
    }
    let is_unlimited = plan
        .jobs
        .iter()
        .any(|job| job.timing.time_based && job.pattern.rw.writes());
    if bound.is_none() && !is_unlimited {
        found.push("the planned bytes of the measurement have no upper bound".into());
    }
    found
}

fn excess_memory(observed: &Observed) -> Option<String> {
    let plan = &observed.plan;
    let workers: u64 = plan.jobs.iter().map(|job| u64::from(job.numjobs)).sum();
    let bound = plan.estimate.buffer_bytes + BASE_BYTES + workers * WORKER_BYTES;
    let peak = observed.run.peak_rss_bytes;
    (peak > bound).then(|| {
        let buffers = plan.estimate.buffer_bytes;
        format!("peak {peak} bytes of memory, {buffers} bytes of buffers planned")
    })
}

/// After the run, exactly the files that existed before it and those that the plan creates and
/// keeps must exist.
fn unexpected_files(observed: &Observed) -> Option<String> {
    let mut expected: BTreeSet<PathBuf> = observed.before.keys().cloned().collect();
    for job in &observed.plan.jobs {
        let files = job
            .targets
            .iter()
            .filter(|target| matches!(target.kind, TargetKind::File | TargetKind::Loop));
        let kept = files.filter(|target| target.existed || !job.target.unlink);
        expected.extend(kept.map(|target| PathBuf::from(&target.path)));
    }
    let found: BTreeSet<PathBuf> = observed.after.keys().cloned().collect();
    (expected != found).then(|| format!("files {expected:?} expected, {found:?} found"))
}

/// Checks file lengths. No file may be shorter than planned, and only files that a job extends by
/// writing may be longer.
fn unexpected_lengths(observed: &Observed) -> Vec<String> {
    let mut planned: BTreeMap<&str, Bounds> = BTreeMap::new();
    for job in &observed.plan.jobs {
        for target in &job.targets {
            let bounds = planned
                .entry(&target.path)
                .or_insert(Bounds { low: 0, high: 0 });
            let appended = if job.target.file_append {
                target.length
            } else {
                0
            };
            let end = appended + target.offset + target.size;
            let written = if job.pattern.rw.writes() { end } else { 0 };
            bounds.low = bounds.low.max(target.length);
            bounds.high = bounds.high.max(target.length).max(written);
        }
    }
    let check = |(path, bounds): (&str, Bounds)| {
        let length = observed.after.get(Path::new(path))?.content.len() as u64;
        let is_planned = bounds.contain(length);
        (!is_planned).then(|| format!("{path}: length {bounds:?} planned, {length} found"))
    };
    planned.into_iter().filter_map(check).collect()
}

/// The run may change only files that the plan writes to.
fn unplanned_changes(case: &Case, observed: &Observed) -> Vec<String> {
    let mut may_change = BTreeSet::new();
    for job in &observed.plan.jobs {
        let writes = job
            .targets
            .iter()
            .filter(|target| job.pattern.rw.is_destructive() || target.layout_offset.is_some());
        may_change.extend(writes.map(|target| PathBuf::from(&target.path)));
    }
    let is_changed = |path: &&PathBuf| {
        let is_device = case.content == Content::LoopDevice && path.ends_with("target");
        observed.before[*path] != observed.after[*path] && !is_device
    };
    let existing = observed
        .before
        .keys()
        .filter(|path| observed.after.contains_key(*path));
    existing
        .filter(is_changed)
        .filter(|path| !may_change.contains(*path))
        .map(|path| format!("{} changed, but the plan does not list it", path.display()))
        .collect()
}

/// Findings about existing files must match the files that change, and an overwrite of foreign data
/// must require a confirmation.
fn missing_notices(case: &Case, observed: &Observed) -> Vec<String> {
    let mut found = Vec::new();
    let target = observed.before.keys().find(|path| path.ends_with("target"));
    let Some((before, after)) =
        target.and_then(|path| Some((&observed.before[path], observed.after.get(path)?)))
    else {
        return found;
    };
    if case.content == Content::LoopDevice {
        return found;
    }
    let has_finding = |code: &str| {
        let mut findings = observed.plan.findings.iter();
        findings.any(|finding| finding.code == code)
    };
    let length = before.content.len();
    let is_overwritten = after.content[..length.min(after.content.len())] != before.content[..];
    let is_extended = after.content.len() > length;
    let appends = observed.plan.jobs.iter().any(|job| job.target.file_append);
    let is_confirmed = !observed.confirmed.is_empty();
    if is_overwritten && case.content == Content::Foreign && !is_confirmed {
        found.push("overwritten without a confirmation".into());
    }
    if is_overwritten && !has_finding("file_overwritten") {
        found.push("overwritten without a finding".into());
    }
    // A fresh file replaces the existing one, which `file_overwritten` reports.
    let is_fresh = |job: &ResolvedJob| job.target.file_state == FileState::Fresh;
    let is_replaced = observed.plan.jobs.iter().any(is_fresh) && has_finding("file_overwritten");
    if is_extended && !appends && !is_replaced && !has_finding("file_extended") {
        found.push("extended without a finding".into());
    }
    found
}
