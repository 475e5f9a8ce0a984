//! `verify` and its options: resolves the verified blocks, and rejects combinations that cannot be
//! verified.

mod backlog;

use crate::plan::{block_sizes::JobBlockSizes, issues::Issues, job_request::JobRequest};
use leadline_protocol::{
    job::{
        Job,
        keyword::Fallocate,
        rw::{Rw, RwKind},
        verify_method::VerifyMethod,
    },
    plan::{
        job::{ResolvedJob, VerifyOptions},
        target::Target,
    },
};

/// Bytes of memory that record the last write to a block.
pub(crate) const TABLE_ENTRY_BYTES: u64 = 4;
/// Smallest verified block in bytes: it must be large enough for the header.
const MIN_INTERVAL: u64 = 512;

const WRITES_OTHER_DATA: &str = "verify writes blocks with headers, checksums and stamps.";

pub(crate) fn is_enabled(job: &Job) -> bool {
    method(job) != VerifyMethod::None
}

/// As in fio, setting `verify_pattern` but not `verify` implies a header and the pattern.
pub(crate) fn method(job: &Job) -> VerifyMethod {
    match job.verify {
        None if job.verify_pattern.is_some() => VerifyMethod::HeaderPattern,
        _ => job.verify(),
    }
}

/// Whether the job only checks blocks that an earlier run wrote.
pub(crate) fn is_verify_only(job: &Job) -> bool {
    is_enabled(job) && job.verify_only()
}

/// Adjusts a job with `verify_only` so that it only reads and takes no measurement, and a job with
/// `create_only` so that it only lays out its files.
pub(crate) fn expand(job: &mut Job) {
    if job.create_only() {
        measure_nothing(job);
        job.end_fsync = None;
        job.fsync_on_close = None;
        job.verify = None;
        job.pre_read = None;
        job.invalidate = Some(false);
        job.drop_caches = None;
        job.unlink = None;
        job.fallocate.get_or_insert(Fallocate::Written);
    } else if is_verify_only(job) {
        job.rw = Some(Rw {
            kind: RwKind::Read,
            modifier: None,
        });
        measure_nothing(job);
        job.file_state = None;
        job.file_append = None;
    }
}

fn measure_nothing(job: &mut Job) {
    job.runtime = None;
    job.time_based = None;
    job.ramp_time = None;
    job.steadystate_duration = None;
    job.startdelay = None;
    job.rate = None;
    job.rate_iops = None;
}

pub(crate) fn options(job: &Job, sizes: &JobBlockSizes) -> Option<VerifyOptions> {
    is_enabled(job).then(|| VerifyOptions {
        method: method(job),
        interval: interval(job, sizes).max(1),
        reads_back: job.do_verify() || job.verify_only(),
        only: job.verify_only(),
        fatal: job.verify_fatal(),
        header_offset: job.verify_offset().0,
        backlog: backlog::resolve(job),
    })
}

fn interval(job: &Job, sizes: &JobBlockSizes) -> u64 {
    job.verify_interval
        .map_or(sizes.bs.write.min, |bytes| bytes.0)
}

pub(crate) fn check(request: &JobRequest, sizes: &JobBlockSizes, issues: &mut Issues) {
    let job = request.job;
    if !is_enabled(job) {
        return check_unused(job, issues);
    }
    check_data(job, issues);
    check_pattern(request, issues);
    check_interval(request, sizes, issues);
    check_header(job, interval(job, sizes), issues);
    check_data_pattern(job, sizes, issues);
    backlog::check(job, issues);
    if request.engine.is_null() {
        issues.invalid(
            "conflicting_options",
            "verify",
            format!(
                "verify cannot be combined with ioengine={}, which stores no data.",
                request.engine.as_str()
            ),
            "Use ioengine=io_uring or psync, or remove verify.",
        );
    }
}

fn check_unused(job: &Job, issues: &mut Issues) {
    for (option, is_set) in [
        ("do_verify", !job.do_verify()),
        ("verify_only", job.verify_only()),
        ("verify_fatal", job.verify_fatal()),
        ("verify_interval", job.verify_interval.is_some()),
        ("verify_offset", job.verify_offset().0 > 0),
        ("verify_pattern", job.verify_pattern.is_some()),
    ] {
        if is_set {
            issues.invalid(
                "missing_verify",
                option,
                format!("{option} requires verify."),
                format!("Set verify=crc32c, or remove {option}."),
            );
        }
    }
}

/// Rejects `bs_unaligned` and options that control data contents: every block has a unique header
/// and stamp, so blocks neither deduplicate nor compress.
fn check_data(job: &Job, issues: &mut Issues) {
    for (option, is_given) in [
        ("zero_buffers", job.zero_buffers()),
        ("bs_unaligned", job.bs_unaligned()),
        ("scramble_buffers", !job.scramble_buffers()),
        (
            "buffer_compress_percentage",
            job.buffer_compress_percentage().0 > 0,
        ),
        ("dedupe_percentage", job.dedupe_percentage().0 > 0),
    ] {
        if is_given {
            issues.invalid(
                "conflicting_options",
                option,
                format!("{option} cannot be combined with verify: {WRITES_OTHER_DATA}"),
                format!("Remove {option} or verify."),
            );
        }
    }
}

fn check_pattern(request: &JobRequest, issues: &mut Issues) {
    let rw = request.rw.kind;
    if rw.trims() {
        issues.invalid(
            "conflicting_options",
            "verify",
            "verify cannot be combined with trims.",
            "Remove verify, or use a pattern that writes.",
        );
    } else if !rw.writes() && !request.job.verify_only() {
        issues.invalid(
            "conflicting_options",
            "verify",
            format!("verify with rw={} requires verify_only=1.", rw.as_str()),
            "Set verify_only=1 to check blocks that an earlier run wrote, or use a pattern that writes.",
        );
    }
}

fn check_interval(request: &JobRequest, sizes: &JobBlockSizes, issues: &mut Issues) {
    let job = request.job;
    let interval = interval(job, sizes);
    let option = if job.verify_interval.is_some() {
        "verify_interval"
    } else {
        "bs"
    };
    if interval < MIN_INTERVAL || interval > sizes.bs.write.min {
        issues.invalid(
            "out_of_range",
            option,
            format!(
                "Each verified block must be between {MIN_INTERVAL} bytes and the smallest write ({} bytes).",
                sizes.bs.write.min
            ),
            format!("Change {option}."),
        );
        return;
    }
    let gap = request
        .rw
        .modifier
        .filter(|_| !request.rw.kind.is_random())
        .map_or(0, i64::unsigned_abs);
    let lengths = sizes.used().map(|(bs, _)| (option, bs.min));
    let alignments = sizes.used().map(|(_, align)| ("blockalign", align));
    // Without blockalign, offsets are aligned to the block size, which is checked above.
    let alignments =
        alignments.filter(|_| request.rw.kind.is_random() && request.job.blockalign.is_some());
    for (option, bytes) in lengths.chain(alignments).chain([("rw", gap)]) {
        if bytes % interval != 0 {
            issues.invalid(
                "misaligned",
                option,
                format!(
                    "{bytes} bytes is not a multiple of the verified block size of {interval} bytes."
                ),
                format!("Change {option}, or set verify_interval to a common divisor."),
            );
        }
    }
}

/// The header and the data that it is swapped with must not overlap (`verify_offset`).
fn check_header(job: &Job, interval: u64, issues: &mut Issues) {
    let offset = job.verify_offset().0;
    if offset == 0 {
        return;
    }
    if method(job) == VerifyMethod::Pattern {
        issues.invalid(
            "conflicting_options",
            "verify_offset",
            "verify_offset cannot be combined with verify=pattern, which has no header.",
            "Remove verify_offset, or use verify=header-pattern.",
        );
        return;
    }
    let bytes = method(job).header_bytes() as u64;
    if offset < bytes || offset.saturating_add(bytes) > interval {
        issues.invalid(
            "out_of_range",
            "verify_offset",
            format!(
                "verify_offset must be between {bytes} (the length of the header) and {}.",
                interval.saturating_sub(bytes)
            ),
            "Change verify_offset, or use larger blocks.",
        );
    }
}

/// The pattern must start at the beginning of each verified block, regardless of the size and
/// offset of the write.
fn check_data_pattern(job: &Job, sizes: &JobBlockSizes, issues: &mut Issues) {
    let Some(pattern) = &job.verify_pattern else {
        if matches!(
            method(job),
            VerifyMethod::Pattern | VerifyMethod::HeaderPattern
        ) {
            issues.invalid(
                "missing_verify_pattern",
                "verify",
                format!("verify={} requires verify_pattern.", method(job).as_str()),
                "Set verify_pattern, such as verify_pattern=0xdeadbeef.",
            );
        }
        return;
    };
    let interval = interval(job, sizes).max(1);
    let write = &sizes.bs.write;
    let is_whole_write = write.min == write.max && write.min == interval;
    let repeats = interval.is_multiple_of(pattern.length() as u64) && !pattern.has_offsets();
    if !is_whole_write && !repeats {
        issues.invalid(
            "misaligned",
            "verify_pattern",
            format!(
                "The length of verify_pattern ({} bytes) must divide the verified block size ({interval} bytes), and it must not contain %o if a write spans multiple verified blocks.",
                pattern.length()
            ),
            "Use a fixed bs without verify_interval, or a pattern whose length divides verify_interval.",
        );
    }
}

/// `verify_only` does not create, extend or fill files.
pub(crate) fn check_targets(job: &Job, targets: &[Target], issues: &mut Issues) {
    if !is_verify_only(job) {
        return;
    }
    for target in targets {
        if !target.existed {
            issues.invalid(
                "missing_file",
                "filename",
                format!("verify_only requires an existing file: {}.", target.path),
                "Create it first by running the same job without verify_only.",
            );
        } else if target.layout_offset.is_some() {
            issues.invalid(
                "region_beyond_end",
                "size",
                format!(
                    "verify_only does not write, but the job would extend {} to {} bytes.",
                    target.path,
                    target.offset + target.size
                ),
                "Use a smaller size, and remove overwrite.",
            );
        }
    }
}

/// A region that one worker writes and verifies.
struct Writer<'a> {
    path: &'a str,
    begin: u64,
    end: u64,
    job: usize,
    name: &'a str,
    is_verified: bool,
}

/// Rejects regions that one worker verifies and another one writes, because the order of the writes
/// is undefined.
pub(crate) fn check_shared(jobs: &[(usize, ResolvedJob)], issues: &mut Issues) {
    let jobs = jobs.iter();
    let mut writers: Vec<Writer> = jobs.flat_map(|(index, job)| writers(*index, job)).collect();
    writers.sort_by_key(|writer| (writer.path, writer.begin));
    let mut before: Option<&Writer> = None;
    for writer in &writers {
        let widest = before.filter(|before| before.path == writer.path);
        if let Some(widest) = widest.filter(|widest| writer.begin < widest.end) {
            reject_shared(widest, writer, issues);
        }
        before = widest
            .filter(|widest| widest.end > writer.end)
            .or(Some(writer));
    }
}

fn reject_shared(first: &Writer, second: &Writer, issues: &mut Issues) {
    let verified = [first, second]
        .into_iter()
        .find(|writer| writer.is_verified);
    let Some(verified) = verified else { return };
    issues.begin_job(verified.job, verified.name);
    issues.invalid(
        "verify_shared_region",
        "verify",
        format!(
            "Multiple workers write to the same region of {}, so the expected data is unknown.",
            verified.path
        ),
        "Use numjobs=1, an offset_increment as large as a region, or one file per worker (directory).",
    );
}

fn writers(index: usize, job: &ResolvedJob) -> impl Iterator<Item = Writer<'_>> {
    let is_verified = job
        .data
        .verify
        .is_some_and(|verify| verify.needs_own_region());
    let targets = job
        .targets
        .iter()
        .filter(|_| job.pattern.rw.is_destructive());
    targets.flat_map(move |target| {
        let workers = if target.worker.is_some() {
            1
        } else {
            job.numjobs
        };
        (0..workers.min(2)).map(move |_| Writer {
            path: &target.path,
            begin: target.offset,
            end: target.offset + target.size,
            job: index,
            name: &job.name,
            is_verified,
        })
    })
}

/// Memory that records the last write to every block, in bytes, across all workers.
pub(crate) fn table_bytes(job: &ResolvedJob) -> u64 {
    let Some(options) = job.data.verify.filter(|options| !options.only) else {
        return 0;
    };
    let regions = job.targets.iter();
    let blocks: u64 = regions.map(|target| target.size / options.interval).sum();
    blocks.saturating_mul(TABLE_ENTRY_BYTES)
}
