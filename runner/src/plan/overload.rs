//! Resolves `overload_time`.

use crate::plan::{issues::Issues, job_request::JobRequest, timing::limits};
use leadline_protocol::{
    job::{Job, direction::PerDirection, range::OVERLOAD_TIME, rw::RwKind},
    plan::job::{OverloadOptions, ResolvedJob},
};

const US_PER_MS: u64 = 1000;
/// Multiple of the queue depth that the backlog may reach in a burst.
const QUEUES: u64 = 4;

/// `None` if `overload_time` is not set. A job is overloaded only if its backlog exceeds both the
/// arrivals in one second and `QUEUES` times the queue depth.
pub(crate) fn options(job: &Job, resolved: &ResolvedJob) -> Option<OverloadOptions> {
    let duration_ms = job.overload_time().0 / US_PER_MS;
    let rates = used_rates(&resolved.timing.rate_iops, resolved.pattern.rw);
    let per_worker = rates.flatten().fold(0, u64::saturating_add);
    let workers = u64::from(resolved.numjobs);
    let queue = QUEUES.saturating_mul(u64::from(resolved.in_flight()));
    (duration_ms > 0).then(|| OverloadOptions {
        backlog: per_worker
            .saturating_mul(workers)
            .max(queue.saturating_mul(workers)),
        duration_ms,
    })
}

/// The rates of the directions that the job uses; `None` if there is no limit.
pub(crate) fn used_rates(
    rates: &PerDirection<Option<u64>>,
    rw: RwKind,
) -> impl Iterator<Item = Option<u64>> {
    let directions = [
        (rw.reads(), rates.read),
        (rw.writes(), rates.write),
        (rw.trims(), rates.trim),
    ];
    let used = directions.into_iter().filter(|(is_used, _)| *is_used);
    used.map(|(_, rate)| rate)
}

pub(crate) fn check(request: &JobRequest, issues: &mut Issues) {
    let job = request.job;
    let us = job.overload_time().0;
    if us == 0 {
        return;
    }
    if !OVERLOAD_TIME.contains(us) {
        issues.invalid(
            "out_of_range",
            "overload_time",
            "overload_time must be between 1s and 1h, or 0.",
            "Use a time such as 5s.",
        );
    }
    let rates = limits(job.rate_iops);
    let used: Vec<Option<u64>> = used_rates(&rates, request.rw.kind).collect();
    if used.iter().all(Option::is_none) {
        issues.invalid(
            "missing_rate",
            "overload_time",
            "overload_time requires rate_iops: without a rate, no I/O is due.",
            "Set rate_iops, or remove overload_time.",
        );
    } else if used.contains(&None) {
        issues.invalid(
            "missing_rate",
            "overload_time",
            "overload_time requires a rate for each direction: rate_iops limits only one of them.",
            "Set rates for reads and writes, such as rate_iops=1000,500, or remove overload_time.",
        );
    }
}
