//! Notes about options that fio applies differently. docs/fio-differences.md lists the reasons.

use crate::plan::{
    issues::Issues,
    phases::{has_flush, has_verify},
};
use leadline_protocol::{
    finding::Severity,
    job::{
        Job, direction::PerDirection, distribution::Distribution, keyword::Fallocate, size::Extent,
    },
    plan::job::{BlockSizes, ResolvedJob},
};
use serde_json::json;

pub(crate) fn add_findings(requested: &Job, job: &ResolvedJob, issues: &mut Issues) {
    for (option, sentence) in differences(requested, job) {
        issues.finding(
            Severity::Note,
            "fio_difference",
            sentence,
            json!({"option": option}),
            "See docs/fio-differences.md before comparing results with fio.",
        );
    }
}

/// Options that fio applies differently, each with an explanation.
fn differences(requested: &Job, job: &ResolvedJob) -> Vec<(&'static str, String)> {
    let mut notes = Vec::new();
    let mut note = |applies: bool, option: &'static str, sentence: &str| {
        if applies {
            notes.push((option, sentence.to_owned()));
        }
    };
    let pattern = &job.pattern;
    let rw = pattern.rw;
    let is_mixed = rw.reads() && rw.writes();
    let modifier = pattern.rw_modifier.unwrap_or(0);
    let is_sequential = !rw.is_random();
    if job.target.create_only {
        return notes;
    }
    if !job.is_measured() {
        let sentence = "verify_only reads the whole region in offset order; fio repeats the job's access pattern.";
        note(true, "verify_only", sentence);
        let sentence = "The job writes only part of its region. All other blocks count as bad unless they contain verified data; fio checks only the blocks that the job writes.";
        note(
            writes_part_of_region(requested, job),
            "verify_only",
            sentence,
        );
        return notes;
    }
    note(
        has_verify(job),
        "verify",
        "Written blocks are read back in a separate phase; fio adds these reads to the read statistics, and skips them if time_based uses up the time.",
    );
    note(
        is_sequential && modifier < 0,
        "rw",
        "Backward access starts with the last block; fio starts with block 0 and then jumps to the end.",
    );
    note(
        is_sequential && modifier > 0 && !wraps_exactly(job),
        "rw",
        "Access with gaps wraps around until all bytes are transferred; fio stops when a block would cross the end of the region.",
    );
    note(
        is_mixed && pattern.fsync.max(pattern.fdatasync) > 0,
        "fsync",
        "Only writes count toward the next sync; fio 3.33 and earlier repeats the sync after each read in between.",
    );
    note(
        !is_mixed && rw.writes() && syncs_at_end_of_pass(job),
        "fsync",
        "A sync after the last write of a pass is issued once; fio repeats it before the next pass.",
    );
    note(
        is_mixed && rw.is_random() && pattern.bs.read != pattern.bs.write && !pattern.norandommap,
        "bs",
        "Reads and writes of different sizes each cover the region once; fio shares one map and may end early.",
    );
    note(
        rw.is_random() && uses_normal_distribution(job),
        "random_distribution",
        "The normal distribution is centered in the region and has the specified standard deviation; fio uses a narrower distribution and scatters the blocks.",
    );
    note(
        job.timing.time_based && job.timing.number_ios.is_some(),
        "number_ios",
        "The job ends after number_ios I/Os; fio ignores number_ios with time_based.",
    );
    note(
        job.timing.thinktime_us > 0 && job.in_flight() > 1,
        "thinktime",
        "The pause starts when no I/O is in flight, so the I/Os per pause are exact; fio may submit more.",
    );
    note(
        job.timing.steady_state.is_some() && job.numjobs > 1,
        "steadystate",
        "The job's workers are evaluated together; fio does this only with group_reporting.",
    );
    let region: u64 = job.targets.iter().map(|target| target.size).sum();
    note(
        !job.direct && rw.reads() && job.timing.is_io_size_requested && job.timing.io_size > region,
        "io_size",
        "The file's pages are evicted once, before the job; fio evicts them before every pass.",
    );
    note(
        ends_within_a_block(job),
        "io_size",
        "The number of bytes is rounded down to whole blocks; fio rounds it up.",
    );
    note(
        collects_submissions(job),
        "iodepth_batch_submit",
        "Completions are collected before each submission; fio submits after the first completion, so its submissions are smaller.",
    );
    note(
        has_flush(job),
        "end_fsync",
        "The final fsync is a separate phase; fio includes it in the runtime and thus in the bandwidth.",
    );
    note(
        truncates_last_block(requested, job),
        "size",
        "The file ends with the last whole block; fio creates it with the requested size.",
    );
    note(
        job.target.fallocate == Fallocate::Written
            && rw.is_destructive()
            && job.targets.iter().any(|target| target.layout_bytes > 0),
        "fallocate",
        "Layout writes the file before the job; fio only allocates it (fallocate=native).",
    );
    let io_size = job.timing.io_size;
    note(
        requested.fill_device == Some(true)
            && rw.writes()
            && job.targets.iter().any(|target| io_size < target.size),
        "fill_device",
        "The file gets its size before the job; with fill_device, fio extends it only as far as it writes.",
    );
    notes
}

/// Whether a sync is due after the last block of a pass that is followed by another pass.
fn syncs_at_end_of_pass(job: &ResolvedJob) -> bool {
    let interval = job.pattern.fsync.max(job.pattern.fdatasync);
    let block = job.pattern.bs.write.max;
    interval > 0
        && job.target.size > 0
        && (1..job.timing.io_size.div_ceil(job.target.size))
            .take(interval as usize)
            .any(|pass| (pass * job.target.size / block).is_multiple_of(u64::from(interval)))
}

/// Whether the requested job, whose blocks are verified, leaves blocks of its region unwritten.
fn writes_part_of_region(requested: &Job, job: &ResolvedJob) -> bool {
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

/// Whether the last gap of a forward pass ends exactly at the end of the region.
fn wraps_exactly(job: &ResolvedJob) -> bool {
    let bs = if job.pattern.rw.reads() {
        &job.pattern.bs.read
    } else {
        &job.pattern.bs.write
    };
    let stride = bs
        .max
        .saturating_add_signed(job.pattern.rw_modifier.unwrap_or(0))
        .max(1);
    job.targets.iter().all(|target| target.size % stride == 0)
}

/// Whether the requested batch is larger than the number of completions that the job waits for.
fn collects_submissions(job: &ResolvedJob) -> bool {
    let ring = &job.ring;
    let batch = ring.iodepth_batch_submit.unwrap_or(1);
    let completed = ring.iodepth_batch_complete_min.unwrap_or(1);
    ring.ioengine.is_asynchronous() && job.in_flight() > 1 && batch > completed.max(1)
}

/// Whether layout creates a file that is shorter than the requested size.
fn truncates_last_block(requested: &Job, job: &ResolvedJob) -> bool {
    let Some(size) = requested.size.and_then(Extent::bytes) else {
        return false;
    };
    let is_laid_out = job
        .targets
        .iter()
        .any(|target| target.layout_offset.is_some());
    is_laid_out && requested.filesize.is_none() && !size.is_multiple_of(smallest_block(job))
}

fn smallest_block(job: &ResolvedJob) -> u64 {
    let PerDirection { read, write, trim } = &job.pattern.bs;
    let rw = job.pattern.rw;
    let all: [(bool, &BlockSizes); 3] =
        [(rw.reads(), read), (rw.writes(), write), (rw.trims(), trim)];
    let used = all.iter().filter(|(is_used, _)| *is_used);
    used.map(|(_, bs)| bs.min).min().unwrap_or(1)
}

fn uses_normal_distribution(job: &ResolvedJob) -> bool {
    let offsets = &job.pattern.random_distribution;
    let is_normal =
        |distribution: &Distribution| matches!(distribution, Distribution::Normal { .. });
    (job.pattern.rw.reads() && is_normal(&offsets.read))
        || (job.pattern.rw.writes() && is_normal(&offsets.write))
}

fn ends_within_a_block(job: &ResolvedJob) -> bool {
    let bs = &job.pattern.bs;
    let rw = job.pattern.rw;
    let largest = [
        (rw.reads(), bs.read.max),
        (rw.writes(), bs.write.max),
        (rw.trims(), bs.trim.max),
    ];
    let is_cut = |(used, max): &(bool, u64)| *used && !job.timing.io_size.is_multiple_of(*max);
    job.timing.is_io_size_requested && !job.timing.time_based && largest.iter().any(is_cut)
}
