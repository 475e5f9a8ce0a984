//! Resolves `verify_backlog`, which reads blocks back while the job is still writing.

use crate::plan::issues::Issues;
use leadline_protocol::{job::Job, plan::job::VerifyBacklog};

/// Each worker keeps its backlog of writes in memory, which takes at most 16 MiB per worker.
const MAX_WRITES: u32 = 1 << 20;

/// `None` if blocks are not read back during the job. This includes mixed jobs: the job's own reads
/// and the verification reads would share one set of statistics.
pub(super) fn resolve(job: &Job) -> Option<VerifyBacklog> {
    let writes = job.verify_backlog();
    let rw = job.rw().kind;
    let is_used = job.do_verify() && !job.verify_only() && rw.writes() && !rw.reads();
    (is_used && writes > 0).then(|| VerifyBacklog {
        writes,
        batch: match job.verify_backlog_batch() {
            0 => writes,
            batch => batch,
        },
    })
}

pub(super) fn check(job: &Job, issues: &mut Issues) {
    if resolve(job).is_some_and(|backlog| backlog.writes > MAX_WRITES) {
        issues.invalid(
            "out_of_range",
            "verify_backlog",
            format!("verify_backlog must be at most {MAX_WRITES}."),
            "Use a smaller number, or remove it: all blocks are verified after the measurement.",
        );
    }
}
