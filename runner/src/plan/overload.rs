//! `overload_time`.

use crate::plan::issues::Issues;
use leadline_protocol::{
    job::{Job, range::OVERLOAD_TIME},
    plan::job::{OverloadOptions, ResolvedJob},
};

const US_PER_MS: u64 = 1000;
/// Queue depths that a burst may fill.
const QUEUES: u64 = 4;

/// `None` without `overload_time`. The backlog must exceed the arrivals of a second, and several
/// queue depths.
pub(crate) fn options(job: &Job, resolved: &ResolvedJob) -> Option<OverloadOptions> {
    let duration_ms = job.overload_time().0 / US_PER_MS;
    let (rates, rw) = (&resolved.timing.rate_iops, resolved.pattern.rw);
    let used = [
        rates.read.filter(|_| rw.reads()),
        rates.write.filter(|_| rw.writes()),
        rates.trim.filter(|_| rw.trims()),
    ];
    let per_worker = used.into_iter().flatten().fold(0, u64::saturating_add);
    let workers = u64::from(resolved.numjobs);
    let queue = QUEUES.saturating_mul(u64::from(resolved.in_flight()));
    (duration_ms > 0).then(|| OverloadOptions {
        backlog: per_worker
            .saturating_mul(workers)
            .max(queue.saturating_mul(workers)),
        duration_ms,
    })
}

pub(crate) fn check(job: &Job, issues: &mut Issues) {
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
    if job.rate_iops.is_none() {
        issues.invalid(
            "missing_rate",
            "overload_time",
            "overload_time requires rate_iops: without a rate, nothing is due.",
            "Set rate_iops, or remove overload_time.",
        );
    }
}
