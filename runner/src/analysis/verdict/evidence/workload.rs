//! Job properties that determine what the counters prove.

use crate::analysis::verdict::evidence::targets::OVERLAY;
use leadline_protocol::{
    evidence::{target::TargetReport, transition::Direction},
    job::keyword::Fadvise,
    plan::job::{BlockSizes, ResolvedJob},
    report::Report,
};

/// Filesystems that may read more than the requested blocks, or that may be stored on such a
/// filesystem.
const NOT_PLAIN: &[&str] = &["btrfs", OVERLAY];

fn sizes(direction: Direction, job: &ResolvedJob) -> &BlockSizes {
    direction.select(&job.pattern.bs.read, &job.pattern.bs.write)
}

pub(super) fn smallest_block(direction: Direction, jobs: &[&ResolvedJob]) -> u64 {
    let smallest = jobs.iter().map(|job| sizes(direction, job).min);
    smallest.min().unwrap_or(1)
}

pub(super) fn largest_block(direction: Direction, jobs: &[&ResolvedJob]) -> u64 {
    let largest = jobs.iter().map(|job| sizes(direction, job).max);
    largest.max().unwrap_or(1)
}

pub(super) fn has_one_block_size(direction: Direction, jobs: &[&ResolvedJob]) -> bool {
    let Some(first) = jobs.first().map(|job| sizes(direction, job)) else {
        return false;
    };
    let is_same = |job: &&ResolvedJob| sizes(direction, job).min == first.max;
    first.min == first.max && jobs.iter().all(is_same)
}

/// Whether every byte that the process reads from storage is read by one of its I/Os: one block
/// size, no readahead, no partial pages, no compression and no writes. `page`: size in bytes of the
/// pages that are read as a whole; `None` if parts of a page can be read.
pub(super) fn is_every_read_counted(
    report: &Report,
    jobs: &[&ResolvedJob],
    targets: &[&TargetReport],
    page: Option<u64>,
) -> bool {
    let Some(first) = jobs.first().map(|job| &job.pattern.bs.read) else {
        return false;
    };
    let is_counted = |job: &&ResolvedJob| {
        let sizes = &job.pattern.bs.read;
        let is_buffered_page =
            Some(sizes.max) == page && job.target.fadvise_hint == Fadvise::Random;
        let is_aligned = job
            .targets
            .iter()
            .all(|target| page.is_none_or(|page| target.offset % page == 0));
        sizes.min == sizes.max && sizes == first && is_aligned && (job.direct || is_buffered_page)
    };
    let is_plain = |target: &&TargetReport| {
        let extents = target.extents.before.unwrap_or_default();
        let filesystem = target.filesystem.as_deref().unwrap_or_default();
        extents.encoded + extents.inline == 0 && !NOT_PLAIN.contains(&filesystem)
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
    let repeats = |job: &&ResolvedJob| job.may_write_twice();
    let is_shared = |target: &&TargetReport| target.jobs.len() > 1;
    issued_bytes > region || jobs.iter().any(repeats) || targets.iter().any(is_shared)
}
