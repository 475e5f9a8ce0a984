//! Findings about the page cache.

use crate::plan::{host_view::HostView, issues::Issues};
use leadline_protocol::{
    finding::Severity::{Note, Warning},
    format::bytes,
    job::keyword::CacheState,
    plan::job::{Mode, ResolvedJob},
};
use serde_json::json;

pub(super) fn add_findings(job: &ResolvedJob, host: &dyn HostView, issues: &mut Issues) {
    if job.target.drop_caches {
        issues.finding(
            Warning,
            "drop_caches_global",
            "drop_caches affects the whole host and slows down other programs.",
            None,
            "Use invalidate=1, which drops only the target's pages.",
        );
    }
    if job.direct || job.mode == Mode::Null {
        return;
    }
    report_size(job, host, issues);
    if job.target.invalidate && job.pattern.rw.reads() {
        report_invalidate(job, issues);
    }
}

fn report_size(job: &ResolvedJob, host: &dyn HostView, issues: &mut Issues) {
    let region: u64 = job.targets.iter().map(|target| target.size).sum();
    let memory = host.available_memory();
    if region >= memory {
        return;
    }
    let severity = if job.pattern.rw.reads() {
        Warning
    } else {
        Note
    };
    issues.finding(
        severity,
        "fits_into_memory",
        format!(
            "The {} region fits in the available memory ({}).",
            bytes(region),
            bytes(memory)
        ),
        json!({"region_bytes": region, "available_memory_bytes": memory}),
        "Use direct=1 or a region at least twice as large as memory to measure the device.",
    );
}

fn report_invalidate(job: &ResolvedJob, issues: &mut Issues) {
    let region: u64 = job.targets_of(0).map(|(_, target)| target.size).sum();
    if job.timing.time_based || job.timing.io_size > region {
        issues.finding(
            Note,
            "invalidated_once",
            "invalidate drops the target's pages once, before the job; fio drops them before every pass. Memory may serve later passes.",
            None,
            "Use a region larger than the job can cover in one pass, or direct=1.",
        );
    }
    if job.target.cache_state != CacheState::Cold {
        issues.finding(
            Note,
            "invalidate_keeps_dirty",
            "invalidate drops only clean pages; dirty pages stay in memory.",
            None,
            "Run sync first, or use drop_caches=1 as root.",
        );
    }
}
