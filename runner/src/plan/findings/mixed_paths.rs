//! Direct writes to blocks that another job keeps in the page cache.

use crate::plan::issues::Issues;
use leadline_protocol::{
    finding::Severity,
    plan::{job::ResolvedJob, target::Target},
};
use serde_json::json;

/// Reports the first file that one job writes directly and another job uses through the page cache.
///
/// A direct write drops the cached pages in its range. If it cannot, the kernel logs *Page cache
/// invalidation failure on direct I/O*, and the file's next flush fails with EIO
/// (`kiocb_invalidate_post_direct_write` in mm/filemap.c, `dio_warn_stale_pagecache`).
pub(super) fn report(jobs: &[ResolvedJob], issues: &mut Issues) {
    let direct_writers = jobs
        .iter()
        .filter(|job| job.direct && job.pattern.rw.writes());
    let mut pairs = direct_writers.flat_map(|direct| {
        let buffered = jobs.iter().filter(|job| !job.direct);
        buffered.map(move |buffered| (direct, buffered))
    });
    let shared =
        pairs.find_map(|(direct, buffered)| Some((direct, buffered, overlap(direct, buffered)?)));
    let Some((direct, buffered, target)) = shared else {
        return;
    };
    issues.finding(
        Severity::Warning,
        "direct_and_buffered",
        format!(
            "{} writes blocks of {} with direct I/O while {} keeps them in the page cache. Reads can \
             return old data, and flushes can fail with EIO.",
            direct.name, target.path, buffered.name
        ),
        json!({"direct": direct.name, "buffered": buffered.name, "path": target.path}),
        "Set direct to the same value in all jobs that use the file, or separate their regions.",
    );
}

fn overlap<'a>(direct: &'a ResolvedJob, buffered: &ResolvedJob) -> Option<&'a Target> {
    let end = |target: &Target| target.offset.saturating_add(target.size);
    direct.targets.iter().find(|one| {
        buffered.targets.iter().any(|other| {
            one.path == other.path && one.offset < end(other) && other.offset < end(one)
        })
    })
}
