//! Conditions under which fio's result differs.

use leadline_protocol::{
    job::{
        Job, direction::PerDirection, distribution::Distribution, engine::EngineName,
        keyword::Fallocate, size::Extent, value::SecondsRange,
    },
    plan::{
        job::{BlockSizes, ResolvedJob},
        target::{Target, TargetKind},
    },
};

pub(super) fn is_mixed(job: &ResolvedJob) -> bool {
    let is_one_sided = matches!(job.pattern.rwmixread, Some(0 | 100));
    job.pattern.rw.reads() && job.pattern.rw.writes() && !is_one_sided
}

/// Bytes per worker, across its targets.
fn region(job: &ResolvedJob) -> u64 {
    job.targets_of(0).map(|(_, target)| target.size).sum()
}

pub(super) fn is_io_size_above_region(job: &ResolvedJob) -> bool {
    job.timing.is_io_size_requested && job.timing.io_size > region(job)
}

/// Whether `io_size` is repeated and exceeds the region.
pub(super) fn repeats_io_size(job: &ResolvedJob) -> bool {
    let timing = &job.timing;
    timing.is_io_size_requested && timing.loops > 1 && timing.io_size / timing.loops > region(job)
}

/// Bytes between the blocks of sequential access; 0 if the job does not leave gaps.
pub(super) fn sequential_step(job: &ResolvedJob) -> i64 {
    match job.pattern.rw.is_random() {
        true => 0,
        false => job.pattern.rw_modifier.unwrap_or(0),
    }
}

/// Whether sequential access moves backward, instead of staying at one block.
pub(super) fn reads_backward(job: &ResolvedJob) -> bool {
    let step = sequential_step(job);
    let is_repeated =
        |sizes: &BlockSizes| !is_varied(sizes) && sizes.max.checked_add_signed(step) == Some(0);
    step < 0 && !used_sizes(job).all(is_repeated)
}

/// Whether sequential reads and writes reach the end of the region at different times.
pub(super) fn starts_over_by_direction(job: &ResolvedJob) -> bool {
    let timing = &job.timing;
    let repeats = timing.io_size > region(job) && !timing.time_based;
    is_mixed(job) && !job.pattern.rw.is_random() && repeats
}

/// Whether sequential reads and writes of different sizes share the bytes that a job transfers.
pub(super) fn divides_size_by_direction(job: &ResolvedJob) -> bool {
    let PerDirection { read, write, .. } = &job.pattern.bs;
    is_mixed(job)
        && !job.pattern.rw.is_random()
        && !job.timing.time_based
        && (read != write || is_varied(read))
}

/// fio's mmap engine requires blocks of at least a page if `fsync` is set (engines/mmap.c,
/// `fio_mmapio_init`).
pub(super) fn runs_below_page_size(job: &ResolvedJob) -> bool {
    const PAGE_BYTES: u64 = 4096;
    job.ring.ioengine == EngineName::Mmap
        && sync_interval(job) > 0
        && smallest_block(job) < PAGE_BYTES
}

pub(super) fn delays_clones_separately(requested: &Job, job: &ResolvedJob) -> bool {
    let SecondsRange { min_us, max_us } = requested.startdelay();
    job.numjobs > 1 && min_us < max_us
}

/// Number of writes between syncs; 0 if there are none.
pub(super) fn sync_interval(job: &ResolvedJob) -> u32 {
    match job.pattern.rw.writes() {
        true => job.pattern.fsync.max(job.pattern.fdatasync),
        false => 0,
    }
}

pub(super) fn has_one_map_per_direction(job: &ResolvedJob) -> bool {
    let pattern = &job.pattern;
    let bs = &pattern.bs;
    let uses_both = is_mixed(job) && bs.read != bs.write;
    let trims = pattern.rw.trims() && pattern.rw.writes() && bs.write != bs.trim;
    pattern.rw.is_random() && (uses_both || trims) && !pattern.norandommap
}

/// Whether a rate in I/Os per second applies to blocks of different sizes.
pub(super) fn limits_ios_of_different_sizes(job: &ResolvedJob) -> bool {
    let (rw, bs, rate) = (job.pattern.rw, &job.pattern.bs, &job.timing.rate_iops);
    let is_limited = |is_used: bool, sizes: &BlockSizes, rate: Option<u64>| {
        is_used && sizes.min != sizes.max && rate.is_some()
    };
    is_limited(rw.reads(), &bs.read, rate.read)
        || is_limited(rw.writes(), &bs.write, rate.write)
        || is_limited(rw.trims(), &bs.trim, rate.trim)
}

pub(super) fn has_multiple_files(job: &ResolvedJob) -> bool {
    job.targets_of(0).count() > 1
}

pub(super) fn has_multiple_passes(job: &ResolvedJob) -> bool {
    job.timing.time_based || job.timing.io_size > region(job)
}

/// Whether a percentage refers to a file that does not have its final size yet.
pub(super) fn computes_percentages_of_new_size(requested: &Job, job: &ResolvedJob) -> bool {
    let extents = [
        &requested.size,
        &requested.offset,
        &requested.offset_increment,
    ];
    let is_percent = |extent: &&Option<Extent>| matches!(extent, Some(Extent::Percent(_)));
    let grows = |target: &Target| target.layout_offset.is_some() || !target.existed;
    let mut targets = job.targets.iter();
    extents.iter().any(is_percent)
        && (job.target.file_append
            || targets.any(|target| target.kind == TargetKind::File && grows(target)))
}

pub(super) fn shares_formatted_names(requested: &Job, job: &ResolvedJob) -> bool {
    let format = requested.filename_format.as_ref();
    job.numjobs > 1 && format.is_some_and(|format| !format.contains("$jobnum"))
}

/// Whether the last zone is cut off, or zones do not consist of whole blocks.
pub(super) fn wraps_within_zones(requested: &Job, job: &ResolvedJob) -> bool {
    job.pattern.zones.is_some_and(|zones| {
        let stride = (zones.range + zones.skip).max(1);
        has_partial_block(requested, job)
            || !region(job).is_multiple_of(stride)
            || !zones.size.is_multiple_of(smallest_block(job))
    })
}

/// Whether the job reads blocks that layout allocates without writing them.
pub(super) fn reads_allocated_blocks(job: &ResolvedJob) -> bool {
    let mut targets = job.targets.iter();
    job.target.fallocate != Fallocate::Written
        && job.pattern.rw.reads()
        && targets.any(|target| target.kind == TargetKind::File && target.layout_offset.is_some())
}

pub(super) fn spins_for_the_whole_pause(requested: &Job, job: &ResolvedJob) -> bool {
    let pause_us = job.timing.thinktime_us;
    pause_us > 0 && requested.thinktime_spin().0 >= pause_us
}

pub(super) fn extends_existing_files(job: &ResolvedJob) -> bool {
    let extends = |target: &Target| target.existed && target.layout_offset.is_some_and(|at| at > 0);
    job.targets.iter().any(extends)
}

pub(super) fn writes_instead_of_allocating(job: &ResolvedJob) -> bool {
    job.target.fallocate == Fallocate::Written
        && job.pattern.rw.is_destructive()
        && job.targets.iter().any(|target| target.layout_bytes > 0)
}

pub(super) fn keeps_allocation(job: &ResolvedJob) -> bool {
    let mut targets = job.targets.iter();
    job.target.fallocate == Fallocate::Keep
        && job.pattern.rw.writes()
        && targets.any(|target| target.kind == TargetKind::File && target.layout_offset.is_none())
}

pub(super) fn fills_less_than_file(requested: &Job, job: &ResolvedJob) -> bool {
    let io_size = job.timing.io_size;
    requested.fill_device == Some(true)
        && job.pattern.rw.writes()
        && job.targets.iter().any(|target| io_size < target.size)
}

pub(super) fn aligns_increments(requested: &Job, job: &ResolvedJob) -> bool {
    job.numjobs > 1 && matches!(requested.offset_increment, Some(Extent::Percent(_)))
}

pub(super) fn keeps_existing_files(job: &ResolvedJob) -> bool {
    job.target.unlink && job.targets.iter().any(|target| target.existed)
}

pub(super) fn has_slash_in_file_name(requested: &Job, job: &ResolvedJob) -> bool {
    let mut targets = job.targets.iter();
    requested.filename.is_none()
        && job.name.contains('/')
        && targets.any(|target| target.kind == TargetKind::File)
}

pub(super) fn names_standard_input(requested: &Job, _: &ResolvedJob) -> bool {
    let files = requested.filename.as_ref().map(|files| &files.0[..]);
    files.unwrap_or_default().iter().any(|file| file == "-")
}

/// Whether a sync is due after the last block of a pass that is followed by another pass.
pub(super) fn syncs_at_end_of_pass(job: &ResolvedJob) -> bool {
    let interval = sync_interval(job);
    let block = job.pattern.bs.write.max;
    interval > 0
        && job.pattern.rw.writes()
        && !job.pattern.rw.reads()
        && job.target.size > 0
        && (1..job.timing.io_size.div_ceil(job.target.size))
            .take(interval as usize)
            .any(|pass| (pass * job.target.size / block).is_multiple_of(u64::from(interval)))
}

/// Whether the requested job, whose blocks are verified, leaves blocks of its region unwritten.
pub(super) fn writes_part_of_region(requested: &Job, job: &ResolvedJob) -> bool {
    let rw = requested.rw();
    let region: u64 = job.targets.iter().map(|target| target.size).sum();
    let io_size = requested.io_size.and_then(Extent::bytes);
    requested.number_ios.is_some()
        || io_size.is_some_and(|bytes| bytes < region)
        || (rw.kind.is_random() && requested.norandommap())
        || (rw.kind.reads() && rw.kind.writes())
        || rw
            .modifier
            .is_some_and(|gap| !rw.kind.is_random() && gap > 0)
}

/// Whether the last gap of a forward pass ends exactly at the end of a region that begins with the
/// file.
pub(super) fn wraps_exactly(job: &ResolvedJob) -> bool {
    let bs = if job.pattern.rw.reads() {
        &job.pattern.bs.read
    } else {
        &job.pattern.bs.write
    };
    let stride = bs
        .max
        .saturating_add_signed(job.pattern.rw_modifier.unwrap_or(0))
        .max(1);
    let mut targets = job.targets.iter();
    targets.all(|target| target.size % stride == 0 && target.offset == 0)
}

/// Whether the requested batch is larger than the number of completions that the job waits for.
pub(super) fn collects_submissions(job: &ResolvedJob) -> bool {
    let ring = &job.ring;
    let batch = ring.iodepth_batch_submit.unwrap_or(1);
    let completed = ring.iodepth_batch_complete_min.unwrap_or(1);
    ring.ioengine.is_asynchronous() && job.in_flight() > 1 && batch > completed.max(1)
}

/// Whether layout creates a file that is shorter than the requested size.
pub(super) fn truncates_last_block(requested: &Job, job: &ResolvedJob) -> bool {
    let Some(size) = requested.size.and_then(Extent::bytes) else {
        return false;
    };
    let is_laid_out = job.target.file_append
        || job
            .targets
            .iter()
            .any(|target| target.layout_offset.is_some());
    is_laid_out && requested.filesize.is_none() && !size.is_multiple_of(smallest_block(job))
}

/// Whether the requested size is not a multiple of the block size.
pub(super) fn has_partial_block(requested: &Job, job: &ResolvedJob) -> bool {
    let size = requested.size.and_then(Extent::bytes);
    size.is_some_and(|size| !size.is_multiple_of(smallest_block(job)))
}

pub(super) fn computes_percentages_of_whole_blocks(requested: &Job, job: &ResolvedJob) -> bool {
    matches!(requested.io_size, Some(Extent::Percent(_))) && has_partial_block(requested, job)
}

/// Whether a new file ends up shorter than the size that the job requests.
pub(super) fn appends_part_of_a_new_file(requested: &Job, job: &ResolvedJob) -> bool {
    let mut targets = job.targets.iter();
    job.target.file_append
        && targets.any(|target| !target.existed)
        && (requested.offset.is_some()
            || requested.filesize.is_some()
            || job.timing.number_ios.is_some()
            || job.timing.io_size < region(job))
}

/// Whether a sync is due after the last write, which is followed by a partial block.
pub(super) fn syncs_before_partial_block(requested: &Job, job: &ResolvedJob) -> bool {
    let (interval, block) = (u64::from(sync_interval(job)), job.pattern.bs.write.max);
    interval > 0
        && !is_mixed(job)
        && has_partial_block(requested, job)
        && (job.timing.io_size / block).is_multiple_of(interval)
}

/// Whether sequential I/Os of unaligned sizes may end with less than the next size.
pub(super) fn shortens_last_block(job: &ResolvedJob) -> bool {
    !job.pattern.rw.is_random() && used_sizes(job).any(|sizes| sizes.unaligned && is_varied(sizes))
}

/// Whether I/Os of several aligned sizes may end with less than the next size.
pub(super) fn limits_last_block(job: &ResolvedJob) -> bool {
    let ends_with_bytes = job.timing.number_ios.is_none() && !job.timing.time_based;
    let is_cut = |sizes: &BlockSizes| is_varied(sizes) && !sizes.unaligned;
    ends_with_bytes && !divides_size_by_direction(job) && used_sizes(job).any(is_cut)
}

fn is_varied(sizes: &BlockSizes) -> bool {
    sizes.min != sizes.max
}

/// Block sizes of the directions that the job uses.
fn used_sizes(job: &ResolvedJob) -> impl Iterator<Item = &BlockSizes> {
    let PerDirection { read, write, trim } = &job.pattern.bs;
    let rw = job.pattern.rw;
    let all = [(rw.reads(), read), (rw.writes(), write), (rw.trims(), trim)];
    all.into_iter()
        .filter(|(is_used, _)| *is_used)
        .map(|(_, sizes)| sizes)
}

/// Whether the files' shares of the requested size are not multiples of the block size.
pub(super) fn divides_size_unevenly(requested: &Job, job: &ResolvedJob) -> bool {
    let files = job.targets_of(0).count() as u64;
    let size = requested.size.and_then(Extent::bytes);
    files > 1 && size.is_some_and(|size| !size.is_multiple_of(files * smallest_block(job)))
}

fn smallest_block(job: &ResolvedJob) -> u64 {
    used_sizes(job).map(|sizes| sizes.min).min().unwrap_or(1)
}

pub(super) fn uses_normal_distribution(job: &ResolvedJob) -> bool {
    let offsets = &job.pattern.random_distribution;
    let is_normal =
        |distribution: &Distribution| matches!(distribution, Distribution::Normal { .. });
    job.pattern.rw.is_random()
        && ((job.pattern.rw.reads() && is_normal(&offsets.read))
            || (job.pattern.rw.writes() && is_normal(&offsets.write)))
}

pub(super) fn ends_within_a_block(job: &ResolvedJob) -> bool {
    let is_cut = |sizes: &BlockSizes| !job.timing.io_size.is_multiple_of(sizes.max);
    job.timing.is_io_size_requested && !job.timing.time_based && used_sizes(job).any(is_cut)
}
