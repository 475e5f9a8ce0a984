//! Job properties that determine what the counters prove.

use leadline_protocol::{
    evidence::{target::TargetReport, transition::Direction},
    job::{distribution::Distribution, keyword::Fadvise},
    plan::job::{BlockSizes, ResolvedJob},
    report::Report,
};

fn sizes(direction: Direction, job: &ResolvedJob) -> &BlockSizes {
    direction.select(&job.pattern.bs.read, &job.pattern.bs.write)
}

pub(super) fn smallest_block(direction: Direction, jobs: &[&ResolvedJob]) -> u64 {
    let smallest = jobs.iter().map(|job| sizes(direction, job).min);
    smallest.min().unwrap_or(1)
}

pub(super) fn has_one_block_size(direction: Direction, jobs: &[&ResolvedJob]) -> bool {
    let Some(first) = jobs.first().map(|job| sizes(direction, job)) else {
        return false;
    };
    let is_same = |job: &&ResolvedJob| sizes(direction, job).min == first.max;
    first.min == first.max && jobs.iter().all(is_same)
}

/// Whether every byte that the process reads from storage was read by one of its I/Os: one block
/// size, no readahead, no partial pages, no compression and no writes. `page`: page size in bytes.
pub(super) fn is_every_read_counted(
    report: &Report,
    jobs: &[&ResolvedJob],
    targets: &[&TargetReport],
    page: u64,
) -> bool {
    let Some(first) = jobs.first().map(|job| &job.pattern.bs.read) else {
        return false;
    };
    let is_counted = |job: &&ResolvedJob| {
        let sizes = &job.pattern.bs.read;
        let is_buffered_page = sizes.max == page && job.target.fadvise_hint == Fadvise::Random;
        let is_aligned = job.targets.iter().all(|target| target.offset % page == 0);
        sizes.min == sizes.max && sizes == first && is_aligned && (job.direct || is_buffered_page)
    };
    let is_plain = |target: &&TargetReport| {
        let extents = target.extents.before.unwrap_or_default();
        extents.encoded + extents.inline == 0 && target.filesystem.as_deref() != Some("btrfs")
    };
    report.write.ios == 0 && jobs.iter().all(is_counted) && targets.iter().all(is_plain)
}

/// Whether a block may be written more than once.
pub(super) fn may_overwrite_itself(
    issued_bytes: u64,
    jobs: &[&ResolvedJob],
    targets: &[&TargetReport],
) -> bool {
    let region: u64 = targets.iter().map(|target| target.region_bytes).sum();
    let repeats = |job: &&ResolvedJob| {
        let pattern = &job.pattern;
        let sizes = &pattern.bs.write;
        let is_random = pattern.rw.is_random();
        let has_no_map = is_random
            && (pattern.norandommap || pattern.random_distribution.write != Distribution::Random);
        let is_shared = job.numjobs > 1 && job.targets.iter().any(|target| target.worker.is_none());
        has_no_map || is_shared || sizes.min != sizes.max
    };
    let is_shared = |target: &&TargetReport| target.jobs.len() > 1;
    issued_bytes > region || jobs.iter().any(repeats) || targets.iter().any(is_shared)
}
