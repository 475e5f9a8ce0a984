//! Checks whether the requested depth was reached, and whether the CPU was the bottleneck.

use crate::analysis::{context::Context, findings::rerun};
use leadline_protocol::{
    finding::{Finding, Severity::Warning},
    job::range::MAX_WORKERS,
    plan::job::{Mode, ResolvedJob},
};
use serde_json::json;

/// Minimum share of the requested depth; the rest is the time between reaping and submitting.
const MIN_DEPTH_SHARE: f64 = 0.8;
/// Minimum CPU utilization at which the runner is considered the bottleneck; the rest is timer and
/// kernel work.
const BUSY_PERCENT: f64 = 95.0;

/// Does not apply to runs with jobs that intentionally limit their depth.
pub(crate) fn depth_not_reached(context: &Context) -> Option<Finding> {
    let achieved = context.report.achieved_depth?;
    if context.any_job(limits_its_depth) {
        return None;
    }
    let jobs = context.jobs;
    let requested = mean_depth(jobs);
    if requested <= 1.0 || achieved >= MIN_DEPTH_SHARE * requested {
        return None;
    }
    let evidence = json!({"requested_depth": requested, "achieved_depth": achieved});
    if jobs.iter().all(|job| job.ring.ioengine.is_synchronous()) {
        let engine = jobs[0].ring.ioengine.as_str();
        let sentence =
            format!("{engine} executes one I/O at a time: the depth was 1, not {requested:.0}.");
        return Finding::new(
            Warning,
            "depth_is_one",
            sentence,
            evidence,
            "Use ioengine=io_uring, or more jobs (numjobs).",
        )
        .with_rerun(rerun::io_uring());
    }
    let sentence = format!(
        "On average, {achieved:.1} I/Os were in flight instead of the requested {requested:.0}."
    );
    let finding = |remedy| Finding::new(Warning, "depth_not_reached", sentence, evidence, remedy);
    if context.any_job(|job| !job.direct) {
        return finding("Set direct=1: buffered I/O completes or blocks while it is submitted.")
            .with_rerun(rerun::direct());
    }
    if !can_add_jobs(jobs) {
        return Some(finding(
            "Use one file per job (directory) and more jobs (numjobs): jobs that verify blocks cannot share a region.",
        ));
    }
    let remedy =
        "Increase numjobs to submit in parallel; the filesystem may also serialize writers.";
    with_more_jobs(finding(remedy), jobs)
}

fn limits_its_depth(job: &ResolvedJob) -> bool {
    // Each worker executes one trim at a time, which the plan already reports.
    job.mode == Mode::Null
        || job.timing.thinktime_us > 0
        || job.has_rate()
        || job.pattern.rw.trims()
}

/// Requested I/Os in flight per worker.
fn mean_depth(jobs: &[ResolvedJob]) -> f64 {
    let mut workers = 0;
    let mut depth = 0;
    for job in jobs {
        workers += u64::from(job.numjobs);
        depth += u64::from(job.ring.iodepth) * u64::from(job.numjobs);
    }
    depth as f64 / workers.max(1) as f64
}

/// Whether every job can have twice the largest `numjobs`. Plans reject more workers than
/// `MAX_WORKERS`, and regions that multiple workers write and verify.
fn can_add_jobs(jobs: &[ResolvedJob]) -> bool {
    let is_shared = |job: &ResolvedJob| {
        job.targets
            .iter()
            .any(|target| target.worker.is_none() && job.target.offset_increment < target.size)
    };
    let needs_own_region = |job: &ResolvedJob| {
        job.data
            .verify
            .is_some_and(|verify| verify.needs_own_region())
    };
    let is_rejected = |job: &ResolvedJob| {
        job.pattern.rw.is_destructive() && needs_own_region(job) && is_shared(job)
    };
    let workers = u64::from(doubled_numjobs(jobs)) * jobs.len() as u64;
    workers <= u64::from(MAX_WORKERS) && !jobs.iter().any(is_rejected)
}

/// Twice the largest `numjobs`, because a patch applies to all jobs.
fn doubled_numjobs(jobs: &[ResolvedJob]) -> u32 {
    2 * jobs.iter().map(|job| job.numjobs).max().unwrap_or(1)
}

fn with_more_jobs(finding: Finding, jobs: &[ResolvedJob]) -> Option<Finding> {
    let (label, patch) = rerun::with_jobs(doubled_numjobs(jobs));
    finding.with_rerun((&label, patch))
}

/// Either the runner fully used its CPUs, or its threads waited for a CPU. Polling jobs keep their
/// CPUs fully busy even while waiting for the device.
pub(crate) fn cpu_bound(context: &Context) -> Option<Finding> {
    let polls =
        |job: &ResolvedJob| job.ring.spin_us > 0 || job.ring.hipri || job.ring.sqthread_poll;
    if context.jobs.iter().any(polls) {
        return None;
    }
    let cpu = context.report.cpu?;
    let runner = cpu.process_percent;
    let host = cpu.host_percent;
    let evidence = json!({"process_percent": runner, "host_percent": host});
    let threads: u32 = context.jobs.iter().map(|job| job.numjobs).sum();
    if runner >= BUSY_PERCENT * f64::from(threads) {
        let sentence = format!(
            "The CPU was the limit, not the storage: the runner used {runner:.0} % of one CPU."
        );
        let finding = |remedy| Finding::new(Warning, "cpu_bound", sentence, evidence, remedy);
        if !can_add_jobs(context.jobs) {
            return Some(finding(
                "Use larger I/Os, or more jobs (numjobs) with one file each (directory).",
            ));
        }
        let remedy = "Use more jobs (numjobs) on more CPUs, or larger I/Os.";
        return with_more_jobs(finding(remedy), context.jobs);
    }
    if host < BUSY_PERCENT {
        return None;
    }
    let sentence = format!(
        "All CPUs on this host were busy ({host:.0} %), and the runner used {runner:.0} % of one CPU: its I/Os waited for a CPU."
    );
    Finding::new(
        Warning,
        "busy_host",
        sentence,
        evidence,
        "Run again on an idle host.",
    )
    .with_rerun(rerun::unchanged())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{resolve, tests::host::TableHost};
    use leadline_protocol::{job::run_spec::parse_run, plan::Plan};
    use serde_json::Value;

    fn plan(changes: &Value, numjobs: u32) -> Plan {
        let mut job = json!({"rw": "randwrite", "size": "1m", "direct": 1});
        for (option, value) in changes.as_object().unwrap() {
            job[option] = value.clone();
        }
        job["numjobs"] = json!(numjobs);
        resolve(&parse_run(&job).unwrap(), &TableHost::default())
    }

    /// A rerun with more jobs is offered if and only if its plan has no problems.
    #[test]
    fn more_jobs_are_offered_only_if_the_plan_accepts_them() {
        let file = json!({"filename": "full"});
        let verified = json!({"filename": "full", "verify": "crc32c"});
        let merged = |job: &Value, change: Value| {
            let mut job = job.clone();
            for (option, value) in change.as_object().unwrap() {
                job[option] = value.clone();
            }
            job
        };
        for (job, numjobs, is_accepted) in [
            (file.clone(), 1, true),
            (verified.clone(), 1, false),
            (merged(&verified, json!({"rw": "randrw"})), 1, false),
            (
                merged(&verified, json!({"rw": "randread", "verify_only": 1})),
                1,
                true,
            ),
            (
                merged(
                    &verified,
                    json!({"verify": "pattern", "verify_pattern": "0xff"}),
                ),
                1,
                true,
            ),
            (
                merged(&verified, json!({"offset_increment": "1m"})),
                1,
                true,
            ),
            (
                merged(&verified, json!({"offset_increment": "1m"})),
                2,
                true,
            ),
            (
                merged(&verified, json!({"offset_increment": "512k"})),
                1,
                false,
            ),
            (json!({"verify": "crc32c"}), 1, true),
            (json!({"verify": "crc32c"}), 4, true),
            (json!({"rw": "randread", "filename": "full"}), 512, true),
            (json!({"rw": "randread", "filename": "full"}), 513, false),
        ] {
            let case = format!("{job} with {numjobs} jobs");
            let today = plan(&job, numjobs);
            assert!(today.problems.is_empty(), "{case}: {:?}", today.problems);
            let doubled = plan(&job, 2 * numjobs);
            assert_eq!(
                doubled.problems.is_empty(),
                is_accepted,
                "{case}: {:?}",
                doubled.problems
            );
            assert_eq!(can_add_jobs(&today.jobs), is_accepted, "{case}");
        }
    }
}
